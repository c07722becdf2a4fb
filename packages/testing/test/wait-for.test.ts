import { expect, it } from 'vitest';
import { waitFor } from '@holdfast/testing';

it('gives back what the condition answers once it holds', async () => {
  const answers = [undefined, false, null, 'ready'] as const;
  let asked = 0;
  const answer = await waitFor('the answer is ready', () => answers[asked++]);
  expect(answer).toBe('ready');
});

it('names the condition that never held, and why', async () => {
  const refuse = () => {
    throw new Error('connection refused');
  };
  await expect(waitFor('the server answers', refuse, { timeoutMs: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('the server answers') as string,
    cause: new Error('connection refused'),
  });
});
