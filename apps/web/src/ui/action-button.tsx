import { Button, Tooltip } from '@mantine/core';
import { Icon } from './icon.tsx';
import type { IconName } from './icon-paths.ts';

interface ActionButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly onClick: () => void;
  /** Why it cannot be used now; it stays visible and focusable and says so. */
  readonly blockedBecause?: string | undefined;
  readonly busy?: boolean;
  readonly look?: 'default' | 'primary' | 'danger';
  /** Low enough for the rows of a table. */
  readonly size?: 'normal' | 'row';
}

const variants = {
  default: { variant: 'default' },
  primary: { variant: 'filled' },
  danger: { variant: 'light', color: 'red' },
} as const;

// Not `disabled`: that would take the button out of the tab order, and its explanation with it.
function blockedAttributes(reason: string) {
  return { 'data-disabled': true, 'aria-disabled': true, 'aria-description': reason } as const;
}

/** A button for something that changes the world. One that may not be used is explained, not hidden. */
export function ActionButton(props: ActionButtonProps) {
  const {
    label,
    icon,
    onClick,
    blockedBecause,
    busy = false,
    look = 'default',
    size = 'normal',
  } = props;
  const blocked = blockedBecause !== undefined;
  return (
    <Tooltip label={blockedBecause} disabled={!blocked}>
      <Button
        {...variants[look]}
        size={size === 'row' ? 'compact-xs' : 'xs'}
        leftSection={icon === undefined ? undefined : <Icon name={icon} size={14} />}
        loading={busy}
        {...(blocked ? blockedAttributes(blockedBecause) : { onClick })}
      >
        {label}
      </Button>
    </Tooltip>
  );
}
