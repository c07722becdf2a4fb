export { traceEnqueue } from './trace-enqueue.ts';
export type { TraceEnqueueOptions } from './trace-enqueue.ts';
export { traceRun } from './trace-run.ts';
export type { TracedRun, TraceRunOptions } from './trace-run.ts';
