import {
  Button,
  Drawer,
  Menu,
  Modal,
  MultiSelect,
  NativeSelect,
  Notification,
  NumberInput,
  PasswordInput,
  Select,
  Skeleton,
  Switch,
  Tabs,
  TagsInput,
  TextInput,
  Textarea,
  Tooltip,
  createTheme,
} from '@mantine/core';

function brandShade(shade: number): string {
  return `var(--mantine-color-brand-${String(shade)})`;
}

const smallInput = { defaultProps: { size: 'sm' } };

// Locking the page's scroll injects a style tag, which the content security policy forbids.
const dialog = { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } };

/** Component defaults; the colours themselves are in `theme.css`. */
export const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: 7,
  colors: {
    brand: [
      brandShade(0),
      brandShade(1),
      brandShade(2),
      brandShade(3),
      brandShade(4),
      brandShade(5),
      brandShade(6),
      brandShade(7),
      brandShade(8),
      brandShade(9),
    ],
  },
  respectReducedMotion: true,
  components: {
    Button: Button.extend({ defaultProps: { size: 'xs', variant: 'default' } }),
    Drawer: Drawer.extend({ defaultProps: dialog }),
    Menu: Menu.extend({
      defaultProps: {
        shadow: 'md',
        position: 'bottom-end',
        radius: 8,
        withInitialFocusPlaceholder: false,
      },
    }),
    Modal: Modal.extend({
      defaultProps: { ...dialog, radius: 10, padding: 'md', centered: true },
    }),
    MultiSelect: MultiSelect.extend(smallInput),
    NativeSelect: NativeSelect.extend(smallInput),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } },
    }),
    NumberInput: NumberInput.extend(smallInput),
    PasswordInput: PasswordInput.extend(smallInput),
    Select: Select.extend(smallInput),
    Skeleton: Skeleton.extend({ defaultProps: { radius: 4 } }),
    Switch: Switch.extend({ defaultProps: { size: 'sm' } }),
    Tabs: Tabs.extend({ defaultProps: { keepMounted: false } }),
    TagsInput: TagsInput.extend(smallInput),
    TextInput: TextInput.extend(smallInput),
    Textarea: Textarea.extend({ defaultProps: { size: 'sm', autosize: false } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 250, multiline: true, maw: 320 } }),
  },
});
