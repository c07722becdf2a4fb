import type { IconName } from '../../ui/icon-paths.ts';

/** One page of the dashboard, as navigation, palette and shortcuts know it. */
export interface PageEntry {
  readonly to:
    '/' | '/jobs' | '/queues' | '/dead-letters' | '/schedules' | '/workers' | '/settings';
  readonly label: string;
  readonly icon: IconName;
  /** The key that goes there after `g`. */
  readonly shortcut: string;
}

/** The pages, in the order of the navigation. */
export const pages: readonly PageEntry[] = [
  { to: '/', label: 'Overview', icon: 'overview', shortcut: 'o' },
  { to: '/jobs', label: 'Jobs', icon: 'jobs', shortcut: 'j' },
  { to: '/queues', label: 'Queues', icon: 'queues', shortcut: 'q' },
  { to: '/dead-letters', label: 'Dead letters', icon: 'deadLetters', shortcut: 'd' },
  { to: '/schedules', label: 'Schedules', icon: 'schedules', shortcut: 's' },
  { to: '/workers', label: 'Workers', icon: 'workers', shortcut: 'w' },
  { to: '/settings', label: 'Settings', icon: 'settings', shortcut: 'e' },
];
