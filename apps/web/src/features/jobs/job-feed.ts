import type { JobSummary } from '@holdfast/contract';

/** One page of jobs as the API answers it. */
export interface JobPage {
  readonly data: readonly JobSummary[];
  readonly nextCursor: string | null;
}

/** A job on the screen; `left` when it no longer matches the filter that it was found by. */
export interface FeedRow {
  readonly job: JobSummary;
  readonly left: boolean;
}

/**
 * The rows that a reader looks at. They are updated where they are; jobs that came since wait until the reader asks for
 * them, so that nothing moves under the pointer.
 */
export interface JobFeed {
  readonly rows: readonly FeedRow[];
  /** Where the next page of these rows begins. */
  readonly nextCursor: string | null;
  /** How many newer jobs wait to be shown. */
  readonly newerCount: number;
  /** The page that was merged last. */
  readonly source: JobPage;
}

/** A feed that shows exactly the page. */
export function openFeed(page: JobPage): JobFeed {
  return {
    rows: page.data.map((job) => ({ job, left: false })),
    nextCursor: page.nextCursor,
    newerCount: 0,
    source: page,
  };
}

/** Takes a newer answer of the same query into a feed. An empty feed shows it at once. */
export function mergeFeed(feed: JobFeed, page: JobPage): JobFeed {
  if (feed.rows.length === 0) return openFeed(page);
  const fresh = new Map(page.data.map((job) => [job.id, job]));
  const shown = new Set(feed.rows.map(({ job }) => job.id));
  const oldestFresh = page.nextCursor === null ? undefined : page.data.at(-1);
  const rows = feed.rows.map(({ job }) => {
    const newer = fresh.get(job.id);
    // Older than the whole answer: newer jobs pushed it to the next page, and nothing is known about it.
    const beyond = oldestFresh !== undefined && job.createdAt < oldestFresh.createdAt;
    return { job: newer ?? job, left: newer === undefined && !beyond };
  });
  return {
    rows,
    nextCursor: feed.nextCursor,
    newerCount: page.data.filter((job) => !shown.has(job.id)).length,
    source: page,
  };
}
