import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDemoPlan } from '../src/up/demo-plan.ts';

const path = fileURLToPath(new URL('../../../examples/demo/plan.json', import.meta.url));

describe("the demo's plan", () => {
  const plan = readDemoPlan(path, 'http://127.0.0.1:4900');

  it('shows every kind of end, and one schedule', () => {
    const statuses = new Set(plan.jobs.map(({ expect: end }) => end.status));
    expect(statuses).toEqual(new Set(['completed', 'dead_letter']));
    expect(plan.jobs.some(({ expect: end }) => end.attempts > 1)).toBe(true);
    expect(plan.schedules).toHaveLength(1);
  });

  it("sends its HTTP jobs to the demo's own web service", () => {
    const text = JSON.stringify(plan.jobs.filter(({ job }) => job.type === 'http.request'));
    expect(text).toContain('http://127.0.0.1:4900/');
    expect(text).not.toContain('{target}');
  });

  it('marks every job, so that they are found again', () => {
    for (const { job } of plan.jobs) expect(job.tags).toContain('demo');
  });
});
