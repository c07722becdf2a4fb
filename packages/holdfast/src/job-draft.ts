import { OptionsInvalidError, payloadJson, uuidV7 } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck } from './check-options.ts';
import type { JobDefinition } from './job-definition.ts';
import { jobOptionNames, readJobFields, refuseOwnVersion } from './job-fields.ts';
import type { JobFields } from './job-fields.ts';
import type { JobOptions } from './job-options.ts';
import { validatePayload } from './validate-payload.ts';

/** A job on its way to the database, as middleware sees it. */
export interface JobDraft {
  readonly type: string;
  readonly payload: unknown;
  /** What the caller said; the definition's own defaults are not among them. */
  readonly options: JobOptions & { readonly id: string };
  /** Missing when the job was named by its type alone. */
  readonly job: JobDefinition | undefined;
}

/** A draft that was checked, in stored form. */
export interface CheckedDraft {
  readonly draft: JobDraft;
  readonly fields: JobFields;
  readonly payloadJson: string;
  /** Whether the caller chose the id: then another call may have used it before. */
  readonly hasGivenId: boolean;
}

/** What a call asks for. */
export interface DraftRequest {
  /** The name of the call, for errors. */
  readonly call: string;
  readonly job: JobDefinition | string;
  readonly payload: unknown;
  readonly options: JobOptions;
  /** Of a payload, in bytes of JSON. */
  readonly limitBytes: number;
}

const optionNames = [...jobOptionNames, 'tx'] as const;

/**
 * Checks a job completely, before anything is written.
 *
 * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError
 */
export async function checkDraft(request: DraftRequest): Promise<CheckedDraft> {
  const { job, payload, options, limitBytes } = request;
  requireJob(request.call, job);
  const definition = typeof job === 'string' ? undefined : job;
  const type = typeof job === 'string' ? job : job.type;
  const check = new OptionCheck(`${request.call}("${type}")`);
  check.names(options, optionNames);
  check.name('the type', type);
  refuseOwnVersion(check, options, definition);
  const fields = readJobFields(check, options);
  check.done();
  const { json, isExact } = payloadJson(payload, { type, limitBytes });
  if (definition?.schema !== undefined) {
    // What the handler's side will read, so that what passes here passes there.
    const { schema } = definition;
    await validatePayload({ type, schema }, isExact ? payload : JSON.parse(json), payload);
  }
  const id = fields.id ?? uuidV7(systemClock.nowMs());
  return {
    draft: { type, payload, options: { ...options, id }, job: definition },
    fields,
    payloadJson: json,
    hasGivenId: fields.id !== undefined,
  };
}

/** Callers in plain JavaScript may hand in what a module does not export. @throws OptionsInvalidError */
export function requireJob(call: string, job: unknown): void {
  const isDefinition =
    typeof job === 'object' &&
    job !== null &&
    'defaults' in job &&
    'type' in job &&
    typeof job.type === 'string';
  if (isDefinition || typeof job === 'string') return;
  throw new OptionsInvalidError(call, [
    'the job must be a definition made by defineJob, or the name of a type',
  ]);
}

/**
 * Checks what middleware made of a draft. The payload is not held against the schema again: middleware may have encrypted
 * it.
 *
 * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError
 */
export function checkChangedDraft(
  draft: JobDraft,
  before: { readonly call: string; readonly hasGivenId: boolean; readonly limitBytes: number },
): CheckedDraft {
  const check = new OptionCheck(`${before.call}("${draft.type}"), as middleware left it`);
  check.names(draft.options, optionNames);
  check.name('the type', draft.type);
  refuseOwnVersion(check, draft.options, draft.job);
  const fields = readJobFields(check, draft.options);
  check.done();
  const { json } = payloadJson(draft.payload, { type: draft.type, limitBytes: before.limitBytes });
  return { draft, fields, payloadJson: json, hasGivenId: before.hasGivenId };
}
