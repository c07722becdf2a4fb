import type { ReactNode } from 'react';
import classes from './form-grid.module.css';

/** Fields in two columns where there is room. */
export function FormGrid({ children }: { readonly children: ReactNode }) {
  return <div className={classes['grid']}>{children}</div>;
}
