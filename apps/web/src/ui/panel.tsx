import type { ReactNode } from 'react';
import classes from './panel.module.css';

interface PanelProps {
  readonly title?: string;
  /** Controls at the right of the title. */
  readonly actions?: ReactNode;
  /** Whether the content touches the edges, as tables do. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

/** A bordered surface with an optional heading. */
export function Panel({ title, actions, flush = false, children }: PanelProps) {
  return (
    <section className={classes['panel']} aria-label={title}>
      {title === undefined ? null : (
        <header className={classes['header']}>
          <h2 className={classes['title']}>{title}</h2>
          {actions}
        </header>
      )}
      <div className={flush ? classes['flush'] : classes['body']}>{children}</div>
    </section>
  );
}
