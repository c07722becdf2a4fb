import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

/** From which width of the table on a column is shown: always, from 640 px, or from 900 px. */
export type ColumnRank = 'always' | 'medium' | 'wide';

/** One column of a table. */
export interface Column<Row> {
  readonly key: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly rank?: ColumnRank;
  /** Numbers are set at the right. */
  readonly align?: 'start' | 'end';
  /** The column that takes what is left and cuts its text. */
  readonly grow?: boolean;
}

interface DataTableProps<Row> {
  /** What the table lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** How a row stands out: the edge gets the colour. */
  readonly rowTone?: (row: Row) => 'bad' | 'warn' | undefined;
}

function columnAttributes<Row>(column: Column<Row>) {
  return {
    'data-rank': column.rank ?? 'always',
    'data-align': column.align ?? 'start',
    'data-grow': column.grow === true ? true : undefined,
  };
}

/** A plain table, which leaves out the less important columns where it is narrow. */
export function DataTable<Row>({ label, columns, rows, rowKey, rowTone }: DataTableProps<Row>) {
  return (
    <TableFrame label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" {...columnAttributes(column)}>
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} data-tone={rowTone?.(row)}>
            {columns.map((column) => (
              <td key={column.key} {...columnAttributes(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

interface TableFrameProps {
  readonly label: string;
  readonly children: ReactNode;
}

function TableFrame({ label, children }: TableFrameProps) {
  return (
    <div className={classes['container']}>
      {/* Focusable, so that a keyboard can scroll a table that is wider than the screen. */}
      <div className={classes['scroller']} tabIndex={0} role="region" aria-label={label}>
        <table className={classes['table']}>{children}</table>
      </div>
    </div>
  );
}

/** The shape of a table while its rows are loading. */
export function TableSkeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div className={classes['skeleton']} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={classes['skeletonRow']}>
          <Skeleton height={12} width="22%" />
          <Skeleton height={12} width="34%" />
          <Skeleton height={12} width="14%" />
        </div>
      ))}
    </div>
  );
}
