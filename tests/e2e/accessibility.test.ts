import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hasBrowser } from '@holdfast/testing';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { project } from './support/stack.ts';
import { eventually, useBench } from './support/use-browser.ts';

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

const pages = [
  '/',
  '/jobs',
  '/jobs?dialog=create',
  '/queues',
  '/queues?dialog=create',
  '/dead-letters',
  '/schedules',
  '/schedules?dialog=create',
  '/workers',
  '/settings',
];

const jobTabs = ['payload', 'result', 'errors', 'logs', 'details'];

declare global {
  interface Window {
    readonly axe: { run(options: object): Promise<AxeResults> };
  }
}

async function untilDrawn(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByLabel('Loading').first().waitFor({ state: 'hidden' });
}

async function violationsOf(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the content security policy does not bind.
  await page.evaluate(axeSource);
  const results = await page.evaluate(
    (values) => window.axe.run({ runOnly: { type: 'tag', values } }),
    rules,
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`),
  );
}

describe.runIf(hasBrowser())('every page', () => {
  const bench = useBench();
  let deadJobId = '';

  beforeAll(async () => {
    const { client } = bench.stack();
    const dead = await client.enqueueJob({
      params: project,
      body: { type: 'echo', payload: { text: 'an example', fails: true }, maxAttempts: 1 },
    });
    deadJobId = dead.id;
    await client.enqueueJob({ params: project, body: { type: 'flaky', payload: { failures: 0 } } });
    await client.createSchedule({
      params: project,
      body: { name: 'nightly', cron: '0 4 * * *', job: { type: 'flaky', payload: {} } },
    });
    await client.createQueue({ params: project, body: { name: 'limited', concurrency: 3 } });
    await client.pauseQueue({ params: { ...project, queue: 'limited' }, body: { reason: 'test' } });
    await client.createApiKey({ params: project, body: { name: 'billing', scopes: ['read'] } });
    const status = async () =>
      (await client.getJob({ params: { ...project, id: dead.id }, query: {} })).status;
    await eventually('the job is a dead letter', status, 'dead_letter');
  });

  const allPages = () => [...pages, ...jobTabs.map((tab) => `/jobs/${deadJobId}?tab=${tab}`)];

  it.each(['light', 'dark'] as const)('meets WCAG AA in %s colours', async (colorScheme) => {
    const { page, complaints } = await bench.visit('/', { colorScheme });
    const found: Record<string, readonly string[]> = {};
    for (const path of allPages()) {
      await page.goto(bench.stack().url + path);
      await untilDrawn(page);
      const violations = await violationsOf(page);
      if (violations.length > 0) found[path] = violations;
    }
    expect(found).toEqual({});
    expect(complaints).toEqual([]);
  });

  it('meets WCAG AA in what opens over a page', async () => {
    const { page } = await bench.visit('/workers');
    await untilDrawn(page);
    await page.getByRole('button', { name: /Actions of worker/ }).click();
    await page.getByRole('menuitem', { name: 'Stop' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Stop' }).click();
    await page.getByRole('dialog', { name: /Stop the worker/ }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('meets WCAG AA before the sign-in', async () => {
    const { page } = await bench.visitSignedOut(bench.stack().url);
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('needs no sideways scrolling at a width of 360 pixels', async () => {
    const viewport = { width: 360, height: 740 };
    const { page } = await bench.visit('/', { viewport });
    for (const path of allPages()) {
      await page.goto(bench.stack().url + path);
      await untilDrawn(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ path, width }).toEqual({ path, width: viewport.width });
    }
  });
});
