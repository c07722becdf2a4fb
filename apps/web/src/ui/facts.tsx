import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** One named fact. Facts without a value are left out. */
export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
}

/** Names and values, one a line. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={classes['facts']}>
      {facts
        .filter(({ value }) => value !== undefined && value !== null && value !== '')
        .map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
