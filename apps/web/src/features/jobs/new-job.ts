import type { NewJob } from '../../api/jobs.ts';
import { parseJson } from '../../ui/json/parse-json.ts';

/** A new job as the form has it. */
export interface NewJobValues {
  readonly type: string;
  readonly queue: string;
  readonly payload: string;
  readonly payloadVersion: number | string;
  readonly start: 'now' | 'delay' | 'at';
  readonly delay: string;
  /** The viewer's own time, without a zone. */
  readonly runAt: string;
  readonly priority: number | string;
  readonly maxAttempts: number | string;
  readonly timeout: string;
  readonly tags: readonly string[];
}

/** What the form starts with. */
export function emptyJob(queue: string | undefined): NewJobValues {
  return {
    type: 'http.request',
    queue: queue ?? 'default',
    payload: '{\n  "url": "https://example.com",\n  "method": "GET"\n}',
    payloadVersion: 1,
    start: 'now',
    delay: '30s',
    runAt: '',
    priority: 5,
    maxAttempts: '',
    timeout: '',
    tags: [],
  };
}

/** What can be said to be wrong before the API is asked. */
export function newJobProblems(values: NewJobValues) {
  const payload = parseJson(values.payload);
  return {
    type: values.type.trim() === '' ? 'Which handler runs it?' : null,
    queue: values.queue.trim() === '' ? 'Which queue does it wait in?' : null,
    payload: payload.ok ? null : payload.message,
    runAt: values.start === 'at' && values.runAt === '' ? 'When?' : null,
  };
}

function startOf(values: NewJobValues): Pick<NewJob, 'delay' | 'runAt'> {
  switch (values.start) {
    case 'now':
      return {};
    case 'delay':
      return { delay: values.delay.trim() };
    case 'at':
      return { runAt: new Date(values.runAt).toISOString() };
  }
}

/** The job as the API takes it; what was left empty is decided by the queue. */
export function newJob(values: NewJobValues): NewJob {
  const payload = parseJson(values.payload);
  return {
    type: values.type.trim(),
    queue: values.queue.trim(),
    ...(payload.ok && payload.value !== undefined ? { payload: payload.value } : {}),
    ...(values.payloadVersion === '' ? {} : { payloadVersion: Number(values.payloadVersion) }),
    ...startOf(values),
    priority: Number(values.priority),
    ...(values.maxAttempts === '' ? {} : { maxAttempts: Number(values.maxAttempts) }),
    ...(values.timeout.trim() === '' ? {} : { timeout: values.timeout.trim() }),
    tags: [...values.tags],
  };
}
