import { Drawer } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { BrandMark } from '../../ui/brand-mark.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { InstallationNote } from './installation-note.tsx';
import { Nav } from './nav.tsx';
import { Palette } from './palette.tsx';
import classes from './shell.module.css';
import { ShortcutHelp } from './shortcut-help.tsx';
import { TopBar } from './top-bar.tsx';
import { useShortcuts } from './use-shortcuts.ts';

/** The frame around every page: navigation, search, who is signed in, and whether the server answers. */
export function Shell() {
  const session = useSession();
  // Between the end of a session and the sign-in page there is nothing to show.
  return session.status === 'signed_in' ? <SignedInShell /> : null;
}

type Overlay = 'none' | 'nav' | 'palette' | 'help';

function SignedInShell() {
  const [overlay, setOverlay] = useState<Overlay>('none');
  const close = () => {
    setOverlay('none');
  };
  useShortcuts({
    blocked: overlay !== 'none',
    onPalette: () => {
      setOverlay('palette');
    },
    onHelp: () => {
      setOverlay('help');
    },
  });

  return (
    <div className={classes['shell']}>
      <a href="#main" className={classes['skip']}>
        Skip to the content
      </a>
      <aside className={classes['sidebar']}>
        <Brand />
        <Nav />
        <InstallationNote />
      </aside>
      <div className={classes['column']}>
        <TopBar
          onOpenNav={() => {
            setOverlay('nav');
          }}
          onOpenPalette={() => {
            setOverlay('palette');
          }}
          onOpenHelp={() => {
            setOverlay('help');
          }}
        />
        <ConnectionBanner />
        <main id="main" tabIndex={-1} className={classes['main']}>
          <Outlet />
        </main>
      </div>
      <Drawer opened={overlay === 'nav'} onClose={close} size={260} title={<Brand />} padding="sm">
        <Nav onNavigate={close} />
      </Drawer>
      <Palette opened={overlay === 'palette'} onClose={close} />
      <ShortcutHelp opened={overlay === 'help'} onClose={close} />
    </div>
  );
}

function Brand() {
  return (
    <div className={classes['brand']}>
      <BrandMark size={24} />
      <span>Holdfast</span>
    </div>
  );
}
