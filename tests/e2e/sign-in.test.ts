import { hasBrowser, launchBrowser } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';
import { owner, startFreshApi } from './support/stack.ts';
import { useBench } from './support/use-browser.ts';

describe.runIf(hasBrowser())('signing in', () => {
  const bench = useBench();

  it('lets a person in by password, and back to the page that was asked for', async () => {
    const { page, complaints } = await bench.visitSignedOut(`${bench.stack().url}/queues`);
    await page.getByLabel('E-mail').fill(owner.email);
    await page.locator('input[name="password"]').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();

    await page.locator('input[name="password"]').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/queues');
    expect(complaints).toEqual([]);
  });

  it('lets a person in by a link once, and leaves no trace of the ticket in the address', async () => {
    const link = await bench.stack().signInLink();
    const first = await bench.visitSignedOut(link);
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(first.page.url()).not.toContain('ticket');

    const second = await bench.visitSignedOut(link);
    await second.page.getByText('This sign-in link was used already').waitFor();
    expect(second.page.url()).not.toContain('ticket');
  });

  it('keeps a person signed in over a reload without storing a token where scripts can read it', async () => {
    const { page } = await bench.visit('/');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const stored = await page.evaluate(() => ({
      local: JSON.stringify(localStorage),
      session: JSON.stringify(sessionStorage),
      cookie: document.cookie,
    }));
    expect(`${stored.local}${stored.session}${stored.cookie}`).not.toMatch(/eyJ/);
  });

  it('shows nothing any more after signing out', async () => {
    const { page } = await bench.visit('/');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
    await page.goto(`${bench.stack().url}/jobs`);
    await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
  });
});

describe.runIf(hasBrowser())('the first sign-in', () => {
  it('asks for a password of one’s own before anything else', async () => {
    const api = await startFreshApi();
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ locale: 'en-GB' });
      await page.goto(api.url);
      await page.getByLabel('E-mail').fill(owner.email);
      await page.locator('input[name="password"]').fill(api.generatedPassword);
      await page.getByRole('button', { name: 'Sign in' }).click();

      await page.getByRole('heading', { name: 'Choose your own password' }).waitFor();
      await page.goto(`${api.url}/jobs`);
      await page.getByRole('heading', { name: 'Choose your own password' }).waitFor();

      await page.getByLabel('Present password').fill(api.generatedPassword);
      await page.getByLabel('New password', { exact: false }).first().fill('four words and more');
      await page.getByLabel('New password again').fill('four words and more');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    } finally {
      await browser.close();
      await api.stop();
    }
  });
});
