import type { Worker } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import { describe, expect, it } from 'vitest';

describe('the middleware', () => {
  it('fits workers of every database library', () => {
    const fit = (worker: Worker<{ readonly ofSomeLibrary: true }>) => worker.use(traceRun());
    expect(fit).toBeTypeOf('function');
  });

  it('refuses options that do not exist', () => {
    expect(() => traceRun({ relation: 'child' as 'link' })).toThrow(/relation must be one of/);
    expect(() => traceEnqueue({ spanName: 'queue' } as object)).toThrow(/spanNames/);
  });
});
