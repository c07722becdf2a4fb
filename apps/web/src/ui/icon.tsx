import classes from './icon.module.css';

/** Path data on a 20 × 20 grid, drawn with a 1.6 stroke. Each icon is one path, so that it stays cheap in long tables. */
const paths = {
  overview: 'M3 16.500h14M5.500 13.500v-4M10 13.500v-10M14.500 13.500v-6.500',
  jobs: 'M7.500 5h9.500M7.500 10h9.500M7.500 15h9.500M3.500 5h.01M3.500 10h.01M3.500 15h.01',
  queues: 'M10 3l7 3.500-7 3.500-7-3.500zM3 10l7 3.500 7-3.500M3 13.500l7 3.500 7-3.500',
  deadLetters: 'M7 2.800h6L17.200 7v6L13 17.200H7L2.800 13V7zM10 6.500v4.200M10 13.500h.01',
  schedules: 'M3.500 5h13v12h-13zM3.500 8.500h13M7 3v3.500M13 3v3.500M10 10.800v2.400l1.600 1',
  workers:
    'M5.500 5.500h9v9h-9zM8 8h4v4H8zM8 2.500v3M12 2.500v3M8 14.500v3M12 14.500v3M2.500 8h3M2.500 12h3M14.500 8h3M14.500 12h3',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4',
  search: 'M9 15.500a6.500 6.500 0 100-13 6.500 6.500 0 000 13zM13.800 13.800L17.500 17.500',
  plus: 'M10 4v12M4 10h12',
  pause: 'M7 4.500v11M13 4.500v11',
  play: 'M6 4l10 6-10 6z',
  stop: 'M5 5h10v10H5z',
  retry: 'M16.500 10a6.500 6.500 0 11-2-4.700M16.800 2.800v3.700h-3.700',
  replay: 'M3.500 10a6.500 6.500 0 102-4.700M3.200 2.800v3.700h3.700',
  close: 'M5 5l10 10M15 5L5 15',
  check: 'M4 10.500l4 4 8-9',
  chevronRight: 'M8 5l5 5-5 5',
  chevronDown: 'M5 8l5 5 5-5',
  chevronLeft: 'M12 5l-5 5 5 5',
  copy: 'M7.500 7.500h9v9h-9zM4.500 12.500h-1v-9h9v1',
  sun: 'M10 13.500a3.500 3.500 0 100-7 3.500 3.500 0 000 7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M4.300 15.700l1.100-1.100M14.600 5.400l1.100-1.100',
  moon: 'M16.500 11.800A7 7 0 018.200 3.500a7 7 0 108.300 8.300z',
  auto: 'M10 17a7 7 0 100-14 7 7 0 000 14zM10 3v14M12.500 4.500v11M14.800 6.500v7',
  user: 'M10 10a3.200 3.200 0 100-6.400 3.200 3.200 0 000 6.400zM3.800 17c.6-3 3-4.500 6.200-4.500s5.600 1.500 6.200 4.500',
  signOut: 'M8 3.500H3.500v13H8M12.500 6.500L16 10l-3.500 3.500M16 10H7.500',
  key: 'M7 16a3.500 3.500 0 100-7 3.500 3.500 0 000 7zM9.500 10L17 2.800M13.500 6.200l2.300 2.300',
  more: 'M4 10a.6 .6 0 101.2 0 .6 .6 0 10-1.2 0M9.400 10a.6 .6 0 101.2 0 .6 .6 0 10-1.2 0M14.8 10a.6 .6 0 101.2 0 .6 .6 0 10-1.2 0',
  warning: 'M10 3l7.500 13.500h-15zM10 8v4M10 14.200h.01',
  info: 'M10 17a7 7 0 100-14 7 7 0 000 14zM10 9.200v4.300M10 6.600h.01',
  arrowRight: 'M4 10h12M11.500 5.500L16 10l-4.500 4.500',
  edit: 'M3.500 16.500l.8-3.500L13 4.300l2.700 2.700L7 15.700zM11.200 6.100l2.700 2.700',
  trash: 'M3.500 5.500h13M8 5.500V3.500h4v2M5 5.500l.8 11h8.400l.8-11M8.500 9v4.500M11.500 9v4.500',
  bolt: 'M11 2.500L4.500 11.500H10l-1 6 6.500-9H10z',
  clock: 'M10 17a7 7 0 100-14 7 7 0 000 14zM10 6v4l2.700 1.800',
  hand: 'M6 10V5.500a1.300 1.300 0 012.600 0V9M8.600 9V3.800a1.300 1.300 0 012.600 0V9M11.200 9V4.800a1.300 1.300 0 012.600 0V11c0 3.800-1.600 6-4.500 6-2.500 0-3.700-1.300-5.300-4.500-.6-1.400.8-2.200 1.900-1z',
  slash: 'M10 17a7 7 0 100-14 7 7 0 000 14zM5.200 5.200l9.600 9.600',
  menu: 'M3 5.500h14M3 10h14M3 14.500h14',
  help: 'M10 17a7 7 0 100-14 7 7 0 000 14zM7.800 8.200c0-1.400 1-2.100 2.200-2.100s2.200.8 2.200 2c0 1.600-2.200 1.700-2.200 3.200M10 13.700h.01',
  drain: 'M4 3.500h12l-4.500 6v4.500l-3 2.500v-7z',
  moonSleep: 'M4 4.500h5l-5 6h5M11.500 9h4.500l-4.500 5.500H16',
  download: 'M10 3v9M6 8.500l4 4 4-4M3.500 16.500h13',
} as const;

/** The name of an icon of the dashboard's own set. */
export type IconName = keyof typeof paths;

interface IconProps {
  readonly name: IconName;
  /** Width and height in pixels, 16 by default. */
  readonly size?: number;
}

/** A decorative icon: hidden from screen readers, so that words beside it (or an `aria-label`) must say the meaning. */
export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg
      className={classes['icon']}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
