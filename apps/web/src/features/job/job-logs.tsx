import { Button } from '@mantine/core';
import type { LogLine } from '@holdfast/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { jobQueries } from '../../api/jobs.ts';
import { formatAbsolute, formatClock } from '../../format/time.ts';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import classes from './job-logs.module.css';

/** What the handlers logged, oldest first. */
export function JobLogs({ jobId }: { readonly jobId: string }) {
  const logs = useInfiniteQuery(jobQueries.logs(jobId));
  if (logs.data === undefined) {
    return logs.isError ? (
      <ErrorState error={logs.error} onRetry={() => void logs.refetch()} />
    ) : (
      <TableSkeleton rows={4} />
    );
  }
  const lines = logs.data.pages.flatMap((page) => page.data);
  if (lines.length === 0) {
    return (
      <EmptyState icon="jobs" title="Nothing was logged">
        A handler writes here with <code>context.log.info(…)</code>.
      </EmptyState>
    );
  }
  return (
    <>
      <div className={classes['lines']} tabIndex={0} role="region" aria-label="Log lines">
        {lines.map((line) => (
          <Line key={`${String(line.executionSeq)}.${String(line.line)}`} line={line} />
        ))}
      </div>
      {logs.hasNextPage ? (
        <Button mt="sm" loading={logs.isFetchingNextPage} onClick={() => void logs.fetchNextPage()}>
          Show more lines
        </Button>
      ) : null}
    </>
  );
}

function Line({ line }: { readonly line: LogLine }) {
  return (
    <div className={classes['line']} data-level={line.level}>
      <span className={classes['meta']} title={formatAbsolute(line.at)}>
        #{line.executionSeq} {formatClock(line.at)}
      </span>
      <span className={classes['level']}>{line.level}</span>
      <span className={classes['message']}>
        {line.message}
        {line.fields === null ? null : (
          <span className={classes['fields']}> {JSON.stringify(line.fields)}</span>
        )}
      </span>
    </div>
  );
}
