import { ActionIcon, Menu, Text } from '@mantine/core';
import { Icon } from './icon.tsx';
import type { IconName } from './icon-paths.ts';

/** One entry of a menu of actions. */
export interface MenuAction {
  readonly label: string;
  readonly icon: IconName;
  readonly onClick: () => void;
  /** Why it cannot be used now; shown below the label. */
  readonly blockedBecause?: string | undefined;
  readonly tone?: 'default' | 'danger';
}

interface ActionMenuProps {
  /** What the actions are about: "Actions of queue mail". */
  readonly label: string;
  readonly actions: readonly MenuAction[];
}

/** The actions of one row. Those which may not be used are explained, not hidden. */
export function ActionMenu({ label, actions }: ActionMenuProps) {
  return (
    <Menu width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={label}>
          <Icon name="more" size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((action) => (
          <Item key={action.label} action={action} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Item({ action }: { readonly action: MenuAction }) {
  const { label, icon, onClick, blockedBecause, tone = 'default' } = action;
  const blocked = blockedBecause !== undefined;
  return (
    <Menu.Item
      leftSection={<Icon name={icon} size={15} />}
      {...(tone === 'danger' ? { color: 'var(--hf-bad)' } : {})}
      {...(blocked ? { 'aria-disabled': true, closeMenuOnClick: false } : { onClick })}
    >
      {label}
      {blocked ? (
        <Text size="xs" c="dimmed">
          {blockedBecause}
        </Text>
      ) : null}
    </Menu.Item>
  );
}
