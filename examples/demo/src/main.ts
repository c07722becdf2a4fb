import { createLogger, runProcess, runUntilSignal } from '@holdfast/runtime';
import { createHttpTarget } from './http-target.ts';

await runProcess(async () => {
  const port = Number(process.env['PORT'] ?? '0');
  const logger = createLogger({ name: 'demo-target' });
  return runUntilSignal([createHttpTarget(port)], { drainTimeoutMs: 5_000, logger });
});
