import {
  batchKinds,
  batchStatuses,
  callbackRoles,
  jobStatuses,
  maxGraphNodes,
  parentFailurePolicies,
} from '@holdfast/domain';
import { z } from 'zod';
import {
  hasOneTime,
  jobFields,
  jobLimitFields,
  maxBulkJobs,
  retryLimitFields,
} from './job-input.ts';
import { MaybeInstant, pageQuery, repeatable } from './paging.ts';
import { Id, Instant, Name, Reason } from './values.ts';

const { runAt, ...fieldsWithoutInstant } = jobFields;

/** A job of a batch. */
export const MemberInput = z
  .strictObject({ ...fieldsWithoutInstant, runAt, ...jobLimitFields })
  .refine(hasOneTime, { path: ['runAt'], error: 'must not be set together with delay' })
  .meta({ id: 'MemberInput' });

/** A job of a batch, as the API has read it. */
export type MemberInput = z.output<typeof MemberInput>;

/** A job that is made when its moment comes; a delay counts from then. */
export const CallbackInput = z
  .strictObject({ ...fieldsWithoutInstant, ...retryLimitFields })
  .meta({ id: 'CallbackInput' });

/** The jobs that a batch makes, each at most once. */
export const CallbacksInput = z
  .strictObject({
    progress: z
      .strictObject({
        every: z.int().min(1).max(100).default(25).meta({
          description: 'At each multiple of this many percent of ended members.',
        }),
        job: CallbackInput,
      })
      .optional(),
    catch: CallbackInput.optional().meta({ description: 'With the first dead letter.' }),
    then: CallbackInput.optional().meta({
      description: 'When all have completed, or ended if failures are allowed.',
    }),
    finally: CallbackInput.optional().meta({
      description: 'When all have ended, and what `then` or `catch` called for has ended too.',
    }),
  })
  .meta({ id: 'CallbacksInput' });

/** The callbacks of a batch, as the API has read them. */
export type CallbacksInput = z.output<typeof CallbacksInput>;

const common = {
  name: Reason.max(200).optional(),
  allowFailures: z.boolean().default(false).meta({
    description: 'Members that died or were cancelled do not keep `then` from coming.',
  }),
  parentId: Id.optional().meta({ description: 'The open batch that it becomes a member of.' }),
  callbacks: CallbacksInput.default({}),
};

/** `POST …/batches`. An empty batch calls `then` and `finally` at once. */
export const BatchInput = z
  .strictObject({ ...common, jobs: z.array(MemberInput).max(maxBulkJobs).readonly() })
  .meta({ id: 'BatchInput' });

/** `POST …/chains`: each job runs when the one before has completed. A `delay` counts from then. */
export const ChainInput = z
  .strictObject({ ...common, jobs: z.array(MemberInput).max(maxGraphNodes).readonly() })
  .meta({ id: 'ChainInput' });

const AfterInput = z.union([
  Name,
  z.strictObject({ node: Name, onParentFailure: z.enum(parentFailurePolicies).default('cancel') }),
]);

/** A job of a graph, under a name for this request. */
export const NodeInput = z
  .strictObject({
    name: Name,
    job: MemberInput,
    after: z.array(AfterInput).max(maxGraphNodes).readonly().default([]).meta({
      description: 'The names of the nodes that must end first, or each with its own policy.',
    }),
    onParentFailure: z.enum(parentFailurePolicies).default('cancel').meta({
      description: 'For the nodes in `after` that are named alone.',
    }),
  })
  .meta({ id: 'NodeInput' });

/** `POST …/graphs`. */
export const GraphInput = z
  .strictObject({ ...common, nodes: z.array(NodeInput).max(maxGraphNodes).readonly() })
  .meta({ id: 'GraphInput' });

/** A graph to be made, as the API has read it. */
export type GraphInput = z.output<typeof GraphInput>;

/** What batches, chains and graphs have in common, as the API has read it. */
export type BatchSettings = Pick<GraphInput, 'name' | 'allowFailures' | 'parentId' | 'callbacks'>;

/** `POST …/batches/{id}/jobs`. */
export const AddJobsInput = z
  .strictObject({ jobs: z.array(MemberInput).min(1).max(maxBulkJobs).readonly() })
  .meta({ id: 'AddJobsInput' });

/** A batch, chain or graph as it is in lists. */
export const BatchSummary = z
  .object({
    id: Id,
    kind: z.enum(batchKinds),
    name: z.string().nullable(),
    parentId: Id.nullable(),
    allowFailures: z.boolean(),
    status: z.enum(batchStatuses),
    counts: z
      .object({
        total: z.int(),
        pending: z.int().meta({ description: 'Members that have not ended.' }),
        completed: z.int(),
        deadLetter: z.int(),
        cancelled: z.int(),
      })
      .meta({ description: 'Jobs and inner batches; callbacks are not counted.' }),
    createdAt: Instant,
    finishedAt: MaybeInstant,
    cancelledAt: MaybeInstant,
  })
  .meta({ id: 'BatchSummary' });

/** A batch as it is in lists. */
export type BatchSummary = z.infer<typeof BatchSummary>;

/** A batch, chain or graph with its callbacks. */
export const Batch = BatchSummary.extend({
  callbacks: z
    .array(
      z.object({
        role: z.enum(callbackRoles),
        percent: z.int().nullable().meta({ description: 'Of a progress callback.' }),
        jobId: Id.meta({ description: 'The id of its job, also before that is made.' }),
        type: Name,
        enqueuedAt: MaybeInstant,
        endedAt: MaybeInstant,
      }),
    )
    .readonly(),
}).meta({ id: 'Batch' });

/** A batch with its callbacks. */
export type Batch = z.infer<typeof Batch>;

/** A batch or chain just made. */
export const EnqueuedBatch = Batch.extend({
  jobIds: z.array(Id).readonly().meta({ description: 'In the order of the request.' }),
}).meta({ id: 'EnqueuedBatch' });

/** A batch or chain just made. */
export type EnqueuedBatch = z.infer<typeof EnqueuedBatch>;

/** A graph just made. */
export const EnqueuedGraph = Batch.extend({
  nodes: z
    .array(z.object({ name: Name, jobId: Id }))
    .readonly()
    .meta({ description: 'Which job each name of the request became.' }),
}).meta({ id: 'EnqueuedGraph' });

/** A graph just made. */
export type EnqueuedGraph = z.infer<typeof EnqueuedGraph>;

const Edge = z.object({
  parentId: Id,
  childId: Id,
  onParentFailure: z.enum(parentFailurePolicies),
  state: z.enum(['waiting', 'satisfied', 'broken']).meta({
    description: 'Whether the parent has not ended, has completed, or has ended otherwise.',
  }),
});

/** A graph, chain or batch with what its jobs wait for. */
export const Graph = Batch.extend({
  nodes: z.array(z.object({ jobId: Id, type: Name, status: z.enum(jobStatuses) })).readonly(),
  edges: z.array(Edge).readonly(),
}).meta({ id: 'Graph' });

/** A graph with its edges. */
export type Graph = z.infer<typeof Graph>;

/** What adding to a batch answers. */
export const AddedJobs = z.object({ jobIds: z.array(Id).readonly() }).meta({ id: 'AddedJobs' });

/** What trying the failed members of a batch again answers. */
export const RetriedBatch = Batch.extend({ retriedCount: z.int() }).meta({ id: 'RetriedBatch' });

/** `GET …/batches`. */
export const BatchesQuery = z.strictObject({ kind: z.enum(batchKinds).optional(), ...pageQuery });

/** `GET …/batches/{id}/jobs`. `status` may be given several times. */
export const BatchJobsQuery = z.strictObject({
  status: repeatable(z.enum(jobStatuses)).optional(),
  ...pageQuery,
});
