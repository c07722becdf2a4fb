import { ActionIcon, Tooltip } from '@mantine/core';
import { setLive, useLive } from '../../api/live.ts';
import { Icon } from '../../ui/icon.tsx';
import { ColorSchemeMenu } from './color-scheme-menu.tsx';
import { SearchBox } from './search-box.tsx';
import classes from './top-bar.module.css';
import { UserMenu } from './user-menu.tsx';

interface TopBarProps {
  readonly onOpenNav: () => void;
  readonly onOpenPalette: () => void;
  readonly onOpenHelp: () => void;
}

/** Search, following on or off, look, help and the account. */
export function TopBar({ onOpenNav, onOpenPalette, onOpenHelp }: TopBarProps) {
  return (
    <header className={classes['bar']}>
      <div className={classes['narrow']}>
        <ActionIcon variant="subtle" color="gray" aria-label="Open navigation" onClick={onOpenNav}>
          <Icon name="menu" size={18} />
        </ActionIcon>
      </div>
      <SearchBox onOpenPalette={onOpenPalette} />
      <div className={classes['tools']}>
        <LiveToggle />
        <div className={classes['wide']}>
          <Tooltip label="Keyboard shortcuts (?)">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Keyboard shortcuts"
              onClick={onOpenHelp}
            >
              <Icon name="help" size={17} />
            </ActionIcon>
          </Tooltip>
        </div>
        <ColorSchemeMenu />
        <UserMenu />
      </div>
    </header>
  );
}

function LiveToggle() {
  const live = useLive();
  return (
    <Tooltip label={live ? 'Follows every 2 seconds. Press to hold still (p)' : 'Held still (p)'}>
      <button
        type="button"
        className={classes['live']}
        data-live={live}
        aria-pressed={live}
        onClick={() => {
          setLive(!live);
        }}
      >
        <span className={classes['dot']} />
        {live ? 'Live' : 'Held'}
      </button>
    </Tooltip>
  );
}
