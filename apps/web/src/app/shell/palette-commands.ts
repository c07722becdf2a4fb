import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { queueQueries } from '../../api/queues.ts';
import { signOut } from '../../api/session.ts';
import type { IconName } from '../../ui/icon-paths.ts';
import { pages } from './pages.ts';

/** Something that the palette can do. */
export interface Command {
  readonly id: string;
  readonly label: string;
  readonly group: 'Go to' | 'Do' | 'Queue' | 'Find';
  readonly icon: IconName;
  readonly run: () => void;
}

/** Everything that the palette offers, in order. */
export function useCommands(): readonly Command[] {
  return [...usePageCommands(), ...useActionCommands(), ...useQueueCommands()];
}

function usePageCommands(): Command[] {
  const navigate = useNavigate();
  return pages.map((page) => ({
    id: `page ${page.to}`,
    label: page.label,
    group: 'Go to',
    icon: page.icon,
    run: () => void navigate({ to: page.to }),
  }));
}

function useActionCommands(): Command[] {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const dialog = { dialog: 'create' } as const;
  return [
    {
      id: 'create job',
      label: 'Create a job',
      group: 'Do',
      icon: 'plus',
      run: () => void navigate({ to: '/jobs', search: dialog }),
    },
    {
      id: 'create queue',
      label: 'Create a queue',
      group: 'Do',
      icon: 'plus',
      run: () => void navigate({ to: '/queues', search: dialog }),
    },
    {
      id: 'create schedule',
      label: 'Create a schedule',
      group: 'Do',
      icon: 'plus',
      run: () => void navigate({ to: '/schedules', search: dialog }),
    },
    schemeCommand('light', 'sun', setColorScheme),
    schemeCommand('dark', 'moon', setColorScheme),
    schemeCommand('auto', 'auto', setColorScheme),
    { id: 'sign out', label: 'Sign out', group: 'Do', icon: 'signOut', run: () => void signOut() },
  ];
}

function schemeCommand(
  scheme: 'light' | 'dark' | 'auto',
  icon: IconName,
  setColorScheme: (scheme: 'light' | 'dark' | 'auto') => void,
): Command {
  return {
    id: `colours ${scheme}`,
    label: `Colours: ${scheme === 'auto' ? 'like the system' : scheme}`,
    group: 'Do',
    icon,
    run: () => {
      setColorScheme(scheme);
    },
  };
}

function useQueueCommands(): Command[] {
  const navigate = useNavigate();
  const queues = useQuery({ ...queueQueries.list(), refetchInterval: false });
  return (queues.data?.data ?? []).map((queue) => ({
    id: `queue ${queue.name}`,
    label: `Jobs in ${queue.name}`,
    group: 'Queue',
    icon: 'queues',
    run: () => void navigate({ to: '/jobs', search: { queue: queue.name } }),
  }));
}
