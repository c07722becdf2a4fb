import { finishJobs } from '@holdfast/database';
import { createJobFactory, hasBrowser, waitFor } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';
import { project } from './support/stack.ts';
import { confirm, eventually, seeStatus, useBench } from './support/use-browser.ts';

const quickRetry = { kind: 'fixed', delay: '0s' } as const;

describe.runIf(hasBrowser())('jobs in the dashboard', () => {
  const bench = useBench();

  async function enqueue(job: {
    readonly type: string;
    readonly payload?: unknown;
    readonly [field: string]: unknown;
  }) {
    return bench.stack().client.enqueueJob({ params: project, body: job });
  }

  async function statusOf(id: string) {
    return (await bench.stack().client.getJob({ params: { ...project, id }, query: {} })).status;
  }

  it('creates a job with the form and shows its result', async () => {
    const { page, complaints } = await bench.visit('/jobs');
    await page.getByRole('button', { name: 'Create job' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type').fill('flaky');
    await dialog.getByLabel('Payload', { exact: true }).fill('{ "failures": ');
    await dialog.getByText('This is not JSON').waitFor();
    await dialog.getByLabel('Payload', { exact: true }).fill('{ "failures": 0 }');
    await dialog.getByRole('button', { name: 'Enqueue' }).click();

    await page.getByRole('heading', { name: 'flaky' }).waitFor();
    await seeStatus(page, 'Completed');
    await page.getByRole('tab', { name: 'Result' }).click();
    await page.getByRole('region', { name: 'result' }).getByText('attempts:').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows every attempt of a job that fails and is retried', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 2 }, backoff: quickRetry });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Completed');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('attempt 3').waitFor();
    expect(await timeline.getByText('Failed', { exact: true }).count()).toBe(2);
    await page.getByRole('tab', { name: /Errors/ }).click();
    await page.getByText('attempt 2 failed on purpose').first().waitFor();
  });

  it('replays a dead letter once its cause is mended', async () => {
    const gate = 'mended';
    const job = await enqueue({ type: 'mendable', payload: { gate }, maxAttempts: 1 });
    const { page } = await bench.visit('/dead-letters');
    await page.getByRole('link', { name: /gate_shut/ }).waitFor();
    bench.stack().openGate(gate);
    await page
      .getByRole('region', { name: 'Dead letters' })
      .getByRole('button', { name: 'Replay' })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the gate is open');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('No dead letters').waitFor();

    await page.goto(`${bench.stack().url}/jobs/${job.id}`);
    await seeStatus(page, 'Completed');
    await page.getByText('Generation').waitFor();
  });

  it('cancels a job that waits for its time', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 0 }, delay: '1h' });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Scheduled');
    await confirm(page, 'Cancel job', 'Cancel job');
    await seeStatus(page, 'Cancelled');
    expect(await statusOf(job.id)).toBe('cancelled');
  });

  it('cancels a job that waits in line', async () => {
    const queue = { ...project, queue: 'closed' };
    const { client } = bench.stack();
    await client.createQueue({ params: project, body: { name: 'closed' } });
    await client.pauseQueue({ params: queue, body: { reason: 'so that it stays in line' } });
    const job = await enqueue({ type: 'flaky', queue: 'closed', payload: { failures: 0 } });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Queued');
    await confirm(page, 'Cancel job', 'Cancel job');
    await seeStatus(page, 'Cancelled');
  });

  it('asks the worker of a claimed job, and shows that it gave the job up', async () => {
    const { database } = bench.stack().db;
    const job = await (await createJobFactory(database)).claimed({ type: 'of.another.worker' });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Claimed');
    await confirm(page, 'Cancel job', 'Cancel job');
    const isAsked = async () => {
      const { cancelRequestedAt } = await bench
        .stack()
        .client.getJob({ params: { ...project, id: job.id }, query: {} });
      return cancelRequestedAt !== null;
    };
    await waitFor('the cancel is on record', isAsked);
    const given = await finishJobs(database, {
      projectId: job.projectId,
      transition: 'abandon_jobs',
      jobs: [
        {
          ...job.lease,
          ...{ executionSeq: job.executionSeq, startedAgoMs: 0, finishedAgoMs: 0 },
          decision: { transition: 'abandon_jobs', executionStatus: 'cancelled' },
        },
      ],
    });
    expect([...given]).toEqual([job.id]);
    await seeStatus(page, 'Cancelled');
  });

  it('discards a failed job that nobody wants to retry', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 1 }, retry: 'manual' });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Failed');
    await confirm(page, 'Cancel job', 'Cancel job');
    await seeStatus(page, 'Cancelled');
  });

  it('asks a running job to stop, and shows that it did', async () => {
    const job = await enqueue({ type: 'hold', payload: { gate: 'never' } });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Running');
    await page.getByRole('tab', { name: 'Logs' }).click();
    await page.getByText('waiting for the gate').waitFor();
    await confirm(page, 'Cancel job', 'Cancel job');
    await seeStatus(page, 'Cancelled');
  });

  it('offers no cancel for a job that has ended', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 0 } });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Completed');
    expect(await page.getByRole('button', { name: 'Cancel job' }).count()).toBe(0);
  });

  it('retries by hand a job whose queue leaves that to people', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 1 }, retry: 'manual' });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Failed');
    await confirm(page, 'Retry', 'Retry');
    await eventually('the job was tried again', () => statusOf(job.id), 'failed');
    await page.getByRole('region', { name: 'Timeline' }).getByText('#2').waitFor();
  });

  it('runs, edits and duplicates a job before its time', async () => {
    const job = await enqueue({ type: 'flaky', payload: { failures: 1 }, delay: '1h' });
    const { page } = await bench.visit(`/jobs/${job.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Payload', { exact: true }).fill('{ "failures": 0 }');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Run now' }).click();
    await seeStatus(page, 'Completed');
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.waitForURL((url) => !url.pathname.includes(job.id));
    await seeStatus(page, 'Completed');
  });

  it('keeps the filters in the address and the rows in place while newer jobs come', async () => {
    await enqueue({ type: 'flaky', payload: { failures: 0 }, tags: ['kept-in-place'] });
    const { page } = await bench.visit('/jobs?tag=kept-in-place');
    const table = page.getByRole('region', { name: 'Jobs' });
    const rows = table.locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(1);
    await enqueue({ type: 'flaky', payload: { failures: 0 }, tags: ['kept-in-place'] });
    const newer = page.getByRole('button', { name: 'Show 1 newer job' });
    await newer.waitFor();
    expect(await rows.count()).toBe(1);
    await newer.click();
    await rows.nth(1).waitFor();

    await page.getByRole('button', { name: 'Dead letter', exact: false }).first().click();
    await page.waitForURL(/status=dead_letter/);
    await page.getByText('No job matches').waitFor();
  });

  it('shows hostile text as text, wherever it comes from', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const job = await enqueue({
      type: 'echo',
      payload: { text: hostile, fails: true, [hostile]: hostile },
      maxAttempts: 1,
      tags: ['<b>tag</b>'],
    });
    const { page, complaints } = await bench.visit(`/jobs/${job.id}`);
    await seeStatus(page, 'Dead letter');
    for (const tab of ['Payload', /Errors/, 'Logs', 'Raw']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').getByText('<img src=x').first().waitFor();
    }
    for (const path of ['/jobs', '/dead-letters']) {
      await page.goto(bench.stack().url + path);
      await page.getByText('<img src=x').first().waitFor();
    }
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
