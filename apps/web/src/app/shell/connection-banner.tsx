import { useQueryClient } from '@tanstack/react-query';
import type { Query } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { describeError } from '../../api/describe-error.ts';
import { formatDurationShort } from '../../format/duration.ts';
import { Icon } from '../../ui/icon.tsx';
import { useNow } from '../../ui/use-now.ts';
import classes from './connection-banner.module.css';

function isStale(query: Query): boolean {
  return query.isActive() && query.state.data !== undefined && query.state.fetchFailureCount > 0;
}

/** Says that what is on the screen is old, and how old, while the server does not answer. */
export function ConnectionBanner() {
  const cache = useQueryClient().getQueryCache();
  const nowMs = useNow();
  const stale = useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => cache.getAll().filter(isStale).sort(byAge)[0],
  );
  if (stale === undefined) return null;
  const age = formatDurationShort(Math.max(0, nowMs - stale.state.dataUpdatedAt));
  const described = describeError(stale.state.fetchFailureReason ?? stale.state.error);
  return (
    <div className={classes['banner']} role="status">
      <Icon name="warning" size={16} />
      <span>
        <strong>{described.title}.</strong> What you see is from {age} ago.
        {described.requestId === undefined ? '' : ` Request ${described.requestId}.`}
      </span>
    </div>
  );
}

function byAge(one: Query, other: Query): number {
  return one.state.dataUpdatedAt - other.state.dataUpdatedAt;
}
