import { useHotkeys } from '@mantine/hooks';
import type { HotkeyItem } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { setLive, useLive } from '../../api/live.ts';
import { pages } from './pages.ts';
import { searchFieldId } from './search-box.tsx';

/** How long after `g` the second key counts. */
const secondKeyWithinMs = 1_500;

// One keyboard, one page: when `g` was pressed last, on the clock of events.
let armedAtMs = Number.NEGATIVE_INFINITY;

interface ShortcutOptions {
  /** While an overlay is open, only it listens. */
  readonly blocked: boolean;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** The keys that work on every page. None of them fires while a person types. */
export function useShortcuts({ blocked, onPalette, onHelp }: ShortcutOptions): void {
  const navigate = useNavigate();
  const live = useLive();

  const key = (name: string, run: (event: KeyboardEvent) => void): HotkeyItem => [
    name,
    (event) => {
      if (blocked || isDialogOpen()) return;
      event.preventDefault();
      run(event);
    },
    { preventDefault: false },
  ];
  const secondKeys = pages.map((page) =>
    key(page.shortcut, (event) => {
      if (takesSecondKey(event)) void navigate({ to: page.to });
    }),
  );
  const toggleLive = () => {
    setLive(!live);
  };

  useHotkeys([
    ...secondKeys,
    key('g', arm),
    key('/', focusSearch),
    key('shift+/', focusSearch),
    key('?', onHelp),
    key('shift+?', onHelp),
    key('p', toggleLive),
  ]);
  useHotkeys([['mod+K', onPalette]], []);
}

function arm(event: KeyboardEvent): void {
  armedAtMs = event.timeStamp;
}

function takesSecondKey(event: KeyboardEvent): boolean {
  const inTime = event.timeStamp - armedAtMs <= secondKeyWithinMs;
  armedAtMs = Number.NEGATIVE_INFINITY;
  return inTime;
}

function focusSearch(): void {
  document.getElementById(searchFieldId)?.focus();
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
}
