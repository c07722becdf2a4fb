import { ActionIcon, Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { currentProject, useRole } from '../../api/access.ts';
import { signOut, useSession } from '../../api/session.ts';
import { Icon } from '../../ui/icon.tsx';

/** Who is signed in, and the way out. */
export function UserMenu() {
  const session = useSession();
  const role = useRole();
  const navigate = useNavigate();
  if (session.status !== 'signed_in') return null;
  return (
    <Menu width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Account">
          <Icon name="user" size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--hf-text)" truncate>
            {session.user.email}
          </Text>
          {role ?? 'no role'} in {currentProject()}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item
          leftSection={<Icon name="settings" size={15} />}
          onClick={() => void navigate({ to: '/settings' })}
        >
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" size={15} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
