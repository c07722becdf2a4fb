import { jobStatuses, parentFailurePolicies, retryModes, uniqueConflicts } from '@holdfast/domain';
import { z } from 'zod';
import { Backoff } from './backoff.ts';
import { DurationText, Id, Instant, InstantInput, Json, JsonObject, Name } from './values.ts';
import { AttemptError, Execution } from './executions.ts';
import { MaybeInstant, pageQuery, repeatable } from './paging.ts';
import { Unique, UniqueKey } from './unique.ts';

const commonFields = {
  id: Id,
  type: Name,
  payloadVersion: z.int().meta({ description: 'Which version of its shape the payload has.' }),
  queue: Name,
  status: z.enum(jobStatuses),
  priority: z.int(),
  attempt: z.int(),
  maxAttempts: z.int(),
  crashCount: z.int(),
  releaseCount: z.int(),
  executionSeq: z.int(),
  generation: z.int(),
  timeout: DurationText,
  backoff: Backoff,
  retry: z.enum(retryModes),
  maxExceptions: z.int().nullable(),
  retryUntil: MaybeInstant,
  startDeadline: MaybeInstant,
  unique: Unique.nullable(),
  tags: z.array(z.string()).readonly(),
  createdAt: Instant,
  runAt: MaybeInstant,
  claimedAt: MaybeInstant,
  startedAt: MaybeInstant,
  finishedAt: MaybeInstant,
  cancelRequestedAt: MaybeInstant,
  workerId: Id.nullable(),
  lockExpiresAt: MaybeInstant,
  scheduleId: Id.nullable(),
  batchId: Id.nullable().meta({
    description: 'The batch, chain or graph that it is a member or a callback of.',
  }),
  lastError: AttemptError.nullable(),
  reason: z.string().nullable().meta({
    description: 'Why the job ended or waits, as a code: "poison_pill", "attempts_exhausted".',
  }),
  progress: Json.nullable(),
  waitingOn: z.int().meta({ description: 'How many parents have not ended yet.' }),
};

/** A job as it is in lists: without its payload and result. */
export const JobSummary = z.object(commonFields).meta({ id: 'JobSummary' });

/** A job as it is in lists. */
export type JobSummary = z.infer<typeof JobSummary>;

/** A job as answered by every route that is about one job. */
export const Job = z
  .object({
    ...commonFields,
    payload: Json,
    result: Json,
    metadata: JsonObject,
  })
  .meta({ id: 'Job' });

/** A job. */
export type Job = z.infer<typeof Job>;

const ofConflict = {
  conflict: z.enum(uniqueConflicts).nullable().meta({
    description: 'What happened because the unique key was held.',
  }),
  holderId: Id.nullable().meta({
    description: 'The job that holds the unique key, where it is another one.',
  }),
};

/** A job just enqueued. `deduplicated` is true when an equal one existed and was answered instead. */
export const EnqueuedJob = Job.extend({ deduplicated: z.boolean(), ...ofConflict }).meta({
  id: 'EnqueuedJob',
});

/** A job just enqueued. */
export type EnqueuedJob = z.infer<typeof EnqueuedJob>;

/** A job that another one waits or waited for. */
export const ParentEdge = z.object({
  id: Id,
  state: z.enum(['waiting', 'satisfied', 'broken']).meta({
    description: 'Whether it has not ended, has completed, or has ended otherwise.',
  }),
  onParentFailure: z.enum(parentFailurePolicies),
});

/** A job with every run of it, oldest first, and with what it waits for. */
export const JobDetail = Job.extend({
  executions: z.array(Execution).readonly(),
  parents: z.array(ParentEdge).readonly(),
}).meta({ id: 'JobDetail' });

/** A job with every run of it. */
export type JobDetail = z.infer<typeof JobDetail>;

/** What a bulk enqueue answers for each job, in the order of the request. */
export const BulkJobsResult = z
  .object({
    data: z
      .array(
        z.object({
          id: Id,
          status: z.enum(jobStatuses).nullable().meta({
            description: 'null for a job of which nothing is left but its unique key.',
          }),
          deduplicated: z.boolean(),
          ...ofConflict,
        }),
      )
      .readonly(),
  })
  .meta({ id: 'BulkJobsResult' });

/** What a bulk enqueue answers. */
export type BulkJobsResult = z.infer<typeof BulkJobsResult>;

/** `GET …/jobs`. `status` may be given several times. */
export const JobsQuery = z.strictObject({
  queue: Name.optional(),
  status: repeatable(z.enum(jobStatuses)).optional(),
  type: Name.optional(),
  tag: z.string().min(1).max(64).optional(),
  batch: Id.optional(),
  key: UniqueKey.optional().meta({
    description: 'A unique key that the jobs hold or held, in whichever scope.',
  }),
  createdAfter: InstantInput.optional(),
  createdBefore: InstantInput.optional(),
  payload: z.string().min(1).max(500).optional().meta({
    description:
      'A JSON object that the payload must contain, or else a text that must be somewhere in it.',
  }),
  ...pageQuery,
});

/** The filters of a list of jobs, as the API has read them. */
export type JobsQuery = z.output<typeof JobsQuery>;

/** `GET …/jobs/{id}`: with `wait`, answers when the job has ended or the time is over, whichever is first. */
export const JobQuery = z.strictObject({
  wait: z
    .string()
    .max(16)
    .optional()
    .meta({
      description: 'How long to wait for the end of the job: "20s", at most a minute.',
      examples: ['20s'],
    }),
});
