import { isMainThread } from 'node:worker_threads';
import { defineJob } from 'holdfast';

export const greet = defineJob({
  type: 'greet',
  isolate: 'thread',
  module: import.meta.url,
  run: ({ name }) => ({ text: `Hello, ${name}`, isMainThread }),
});
