import type { JobSummary } from '@holdfast/contract';
import { describe, expect, it } from 'vitest';
import { mergeFeed, openFeed } from '../src/features/jobs/job-feed.ts';
import type { JobFeed, JobPage } from '../src/features/jobs/job-feed.ts';

/** A job of which only what the feed looks at matters; later letters are newer. */
function job(id: string, status: JobSummary['status'] = 'queued'): JobSummary {
  // The feed reads no other field.
  return { id, status, createdAt: id } as JobSummary;
}

function page(jobs: readonly JobSummary[], nextCursor: string | null = null): JobPage {
  return { data: jobs, nextCursor };
}

function shown(feed: JobFeed): readonly string[] {
  return feed.rows.map((row) => `${row.job.id} ${row.job.status}${row.left ? ' left' : ''}`);
}

describe('a feed of jobs', () => {
  it('shows the first page as it is', () => {
    const feed = openFeed(page([job('b'), job('a')], 'older'));
    expect(shown(feed)).toEqual(['b queued', 'a queued']);
    expect(feed.nextCursor).toBe('older');
  });

  it('updates its rows where they are and holds newer jobs back', () => {
    const feed = mergeFeed(
      openFeed(page([job('b'), job('a')])),
      page([job('d'), job('c'), job('b', 'running'), job('a')]),
    );
    expect(shown(feed)).toEqual(['b running', 'a queued']);
    expect(feed.newerCount).toBe(2);
  });

  it('marks a row that no longer matches the filter', () => {
    const feed = mergeFeed(openFeed(page([job('b'), job('a')])), page([job('a')]));
    expect(shown(feed)).toEqual(['b queued left', 'a queued']);
  });

  it('leaves a row alone that newer jobs have pushed off the page', () => {
    const before = openFeed(page([job('b'), job('a')], 'older'));
    const feed = mergeFeed(before, page([job('c'), job('b')], 'newer cursor'));
    expect(shown(feed)).toEqual(['b queued', 'a queued']);
    expect(feed.nextCursor).toBe('older');
  });

  it('takes jobs in at once while it is empty', () => {
    const feed = mergeFeed(openFeed(page([])), page([job('a')]));
    expect(shown(feed)).toEqual(['a queued']);
    expect(feed.newerCount).toBe(0);
  });
});
