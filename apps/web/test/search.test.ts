import { describe, expect, it } from 'vitest';
import { parseSearch, stringifySearch } from '../src/app/search-codec.ts';
import { jobFilter } from '../src/features/jobs/job-filter.ts';
import { readJobsSearch } from '../src/features/jobs/jobs-search.ts';
import { readSignInSearch } from '../src/features/sign-in/sign-in-search.ts';

describe('the address of a page', () => {
  it('brings every filter back as it was', () => {
    const search = { status: ['failed', 'dead_letter'], queue: 'mail', text: 'a&b=c ü' };
    expect(parseSearch(stringifySearch(search))).toEqual(search);
    expect(stringifySearch({ queue: undefined })).toBe('');
  });

  it('leaves out what is no filter', () => {
    const search = {
      status: ['failed', 'nonsense'],
      queue: ' ',
      since: '1y',
      hack: 'x',
      cursor: 'c',
    };
    expect(readJobsSearch(search)).toEqual({ status: ['failed'], cursor: 'c' });
  });

  it('counts a span from the current minute, so that the query rests for that long', () => {
    const nowMs = Date.UTC(2026, 0, 1, 12, 0, 30);
    const filter = jobFilter(readJobsSearch({ since: '1h' }), nowMs);
    expect(filter.createdAfter).toBe('2026-01-01T11:00:00.000Z');
    expect(jobFilter(readJobsSearch({ since: '1h' }), nowMs + 20_000)).toEqual(filter);
  });

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', 'jobs'])(
    'sends nobody to %s after the sign-in',
    (back) => {
      expect(readSignInSearch({ back })).toEqual({});
    },
  );

  it('sends a person back to the page that was asked for', () => {
    expect(readSignInSearch({ back: '/jobs?queue=mail' })).toEqual({ back: '/jobs?queue=mail' });
  });
});
