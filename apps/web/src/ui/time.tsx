import { Tooltip } from '@mantine/core';
import { elapsedMs, formatAbsolute, formatRelative } from '../format/time.ts';
import { formatDurationMs } from '../format/duration.ts';
import { useNow } from './use-now.ts';

/** An instant as the distance from now, with the absolute time in the viewer's zone on hover. */
export function Time({ at }: { readonly at: string }) {
  const nowMs = useNow();
  return (
    <Tooltip label={formatAbsolute(at)}>
      <time dateTime={at}>{formatRelative(at, nowMs)}</time>
    </Tooltip>
  );
}

interface ElapsedProps {
  readonly from: string;
  /** Without an end it counts up. */
  readonly to?: string | undefined;
}

/** How long something took, or takes so far. */
export function Elapsed({ from, to }: ElapsedProps) {
  const nowMs = useNow();
  const ms = elapsedMs(from, to ?? nowMs);
  return <span>{ms === 0 ? '< 1 ms' : formatDurationMs(ms)}</span>;
}
