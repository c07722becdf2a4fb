import type { ReactNode } from 'react';
import { useEffect } from 'react';
import classes from './page.module.css';

interface PageProps {
  readonly title: string;
  /** What the browser's tab says, when it should say more than the title. */
  readonly documentTitle?: string;
  /** Shown in place of the plain title, for titles with a badge or a way back. */
  readonly heading?: ReactNode;
  readonly subtitle?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One page: heading, actions, content; sets the title of the document. */
export function Page({ title, documentTitle, heading, subtitle, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${documentTitle ?? title} · Holdfast`;
  }, [title, documentTitle]);

  return (
    <div className={classes['page']}>
      <header className={classes['header']}>
        <div className={classes['heading']}>
          {heading ?? <h1 className={classes['title']}>{title}</h1>}
          {subtitle === undefined ? null : <div className={classes['subtitle']}>{subtitle}</div>}
        </div>
        {actions === undefined ? null : <div className={classes['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** The heading of a page, for pages that compose their own. */
export function PageTitle({ children }: { readonly children: ReactNode }) {
  return <h1 className={classes['title']}>{children}</h1>;
}
