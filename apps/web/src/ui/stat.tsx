import type { ReactNode } from 'react';
import classes from './stat.module.css';
import type { Tone } from './tone.ts';

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  /** A second line: what the number is compared with. */
  readonly note?: ReactNode;
  readonly tone?: Tone;
}

/** A number with its name. */
export function Stat({ label, value, note, tone }: StatProps) {
  return (
    <div className={classes['stat']}>
      <dt>{label}</dt>
      <dd data-tone={tone}>{value}</dd>
      {note === undefined ? null : <dd className={classes['note']}>{note}</dd>}
    </div>
  );
}

/** Numbers side by side, as many a row as fit. */
export function StatRow({ children }: { readonly children: ReactNode }) {
  return <dl className={classes['row']}>{children}</dl>;
}
