import { insertUser, setMembership } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { hasBrowser } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';
import { project } from './support/stack.ts';
import { confirm, eventually, seeStatus, useBench } from './support/use-browser.ts';

describe.runIf(hasBrowser())('operating in the dashboard', () => {
  const bench = useBench();

  it('pauses a queue with a reason, so that its jobs wait, and resumes it', async () => {
    const { client, url } = bench.stack();
    await client.createQueue({ params: project, body: { name: 'mail' } });
    const { page } = await bench.visit('/queues');
    const row = page.getByRole('row', { name: /^mail/ });
    await row.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Say why, for your colleagues').waitFor();
    await page.getByRole('dialog').getByLabel('Reason').fill('provider outage');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await row.getByText('Paused').waitFor();

    const job = await client.enqueueJob({
      params: project,
      body: { type: 'flaky', queue: 'mail', payload: { failures: 0 } },
    });
    await row.getByRole('cell', { name: '1', exact: true }).first().waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByText('Open').waitFor();
    await page.goto(`${url}/jobs/${job.id}`);
    await seeStatus(page, 'Completed');
  });

  it('creates a queue with a limit and changes it', async () => {
    const { page } = await bench.visit('/queues?dialog=create');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('narrow');
    await dialog.getByLabel('Concurrency limit').fill('2');
    await dialog.getByRole('button', { name: 'Create queue' }).click();
    await page.getByRole('row', { name: /^narrow.*0 \/ 2/ }).waitFor();

    await page.getByRole('button', { name: 'Actions of queue narrow' }).click();
    await page.getByRole('menuitem', { name: 'Limits and retries' }).click();
    await dialog.getByLabel('Concurrency limit').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /^narrow.*0 \/ 3/ }).waitFor();
  });

  it('creates a schedule after showing when it fires, runs it now, pauses and resumes it', async () => {
    const { client } = bench.stack();
    const { page } = await bench.visit('/schedules?dialog=create');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('nightly');
    await dialog.getByLabel('Cron expression').fill('30 4 * * 1');
    await dialog.getByText('At 04:30, only on Monday').waitFor();
    await dialog.getByLabel('Job type').fill('flaky');
    await dialog.getByLabel('Payload', { exact: true }).fill('{ "failures": 0 }');
    await dialog.getByRole('button', { name: 'Create schedule' }).click();

    const row = page.getByRole('row', { name: /^nightly/ });
    await row.getByRole('button', { name: 'Run now' }).click();
    await row.getByText('By hand').waitFor();
    const completed = async () => {
      const { data } = await client.listJobs({
        params: project,
        query: { type: 'flaky', status: 'completed' },
      });
      return data.filter((job) => job.scheduleId !== null).length;
    };
    await eventually('the job of the schedule completed', completed, 1);

    const openMenu = () => row.getByRole('button', { name: 'Actions of schedule nightly' }).click();
    await openMenu();
    await page.getByRole('menuitem', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('holidays');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await row.getByText('Paused').waitFor();
    await openMenu();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await row.getByText('On', { exact: true }).waitFor();
  });

  it('tells a worker to be quiet, and to claim again', async () => {
    const { page } = await bench.visit('/workers');
    const actions = page.getByRole('button', { name: /Actions of worker/ });
    await page.getByText('Active', { exact: true }).waitFor();
    await actions.click();
    await page.getByRole('menuitem', { name: 'Quiet' }).click();
    await page.getByText('Quiet', { exact: true }).waitFor();
    await actions.click();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
  });

  it('shows a new API key once, and revokes it', async () => {
    const { page } = await bench.visit('/settings');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('billing');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Copy it now').waitFor();
    const key = (await dialog.locator('code').textContent()) ?? '';
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const enqueue = () =>
      fetch(`${bench.stack().url}/api/v1/projects/default/jobs`, {
        method: 'POST',
        headers,
        body: '{"type":"flaky","payload":{"failures":0}}',
      });
    expect((await enqueue()).status).toBe(201);

    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('row', { name: /^billing/ }).waitFor();
    expect(await page.content()).not.toContain(key);
    await confirm(page, 'Revoke', 'Revoke the key');
    await page.getByText('Revoked', { exact: true }).waitFor();
    expect((await enqueue()).status).toBe(401);
  });

  it('explains to a viewer why a button cannot be used', async () => {
    const { db } = bench.stack();
    const viewer = { id: uuidV7(Date.now()), email: 'viewer@example.com' };
    await insertUser(db.database, { ...viewer, passwordHash: 'none', mustChangePassword: false });
    await setMembership(db.database, { project: 'default', userId: viewer.id, role: 'viewer' });
    const { page } = await bench.visit('/jobs', { as: viewer.email });
    const button = page.getByRole('button', { name: 'Create job' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.hover();
    await page.getByText('This needs the role operator. Yours is viewer.').waitFor();
    await button.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('finds its way by the keyboard', async () => {
    const { page } = await bench.visit('/');
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('needle');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/jobs\?text=needle/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.locator('[aria-label="Command"]:focus').waitFor();
    await page.keyboard.type('workers');
    await page
      .getByRole('option', { name: /Workers/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('says how old the figures are when the server no longer answers, and keeps them', async () => {
    const { page } = await bench.visit('/queues');
    await page.getByRole('table').waitFor();
    await page.context().setOffline(true);
    await page.getByText('The server cannot be reached.').waitFor();
    await page.getByText(/What you see is from .* ago/).waitFor();
    await page.getByRole('table').waitFor();
    await page.context().setOffline(false);
    await page.getByText('The server cannot be reached.').waitFor({ state: 'hidden' });
  });
});
