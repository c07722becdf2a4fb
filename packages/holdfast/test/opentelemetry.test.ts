import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import { describe, expect, it } from 'vitest';

describe('the middleware', () => {
  it('refuses options that do not exist', () => {
    expect(() => traceRun({ relation: 'child' as 'link' })).toThrow(/relation must be one of/);
    expect(() => traceEnqueue({ spanName: 'queue' } as object)).toThrow(/spanNames/);
  });
});
