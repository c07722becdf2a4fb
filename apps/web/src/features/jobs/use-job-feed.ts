import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { jobQueries } from '../../api/jobs.ts';
import { useNow } from '../../ui/use-now.ts';
import { mergeFeed, openFeed } from './job-feed.ts';
import type { JobFeed } from './job-feed.ts';
import { jobFilter } from './job-filter.ts';
import type { JobsSearch } from './jobs-search.ts';

/** The feed of one filter; a change of the filter must remount the component that uses it. */
export function useJobFeed(search: JobsSearch) {
  const nowMs = useNow();
  const query = useQuery(jobQueries.list(jobFilter(search, nowMs)));
  const [feed, setFeed] = useState<JobFeed>();

  // While another page's rows stand in for an answer that is on its way, the feed must not take them.
  const page = query.isPlaceholderData ? undefined : query.data;
  if (page !== undefined && page !== feed?.source) {
    setFeed(feed === undefined ? openFeed(page) : mergeFeed(feed, page));
  }

  const showNewer = () => {
    if (query.data !== undefined) setFeed(openFeed(query.data));
  };
  return { feed, query, showNewer };
}
