import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Lane } from './lane.ts';
import type { Queryable } from './queryable.ts';

/** A job as a worker gets it. JSON columns stay text until somebody asks. */
export interface ClaimedJob {
  readonly id: string;
  readonly queueId: string;
  readonly type: string;
  readonly payloadJson: string;
  /** Which shape the payload has. */
  readonly payloadVersion: number;
  readonly priority: number;
  /** A bigint as text. */
  readonly seq: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly executionSeq: number;
  readonly crashCount: number;
  readonly releaseCount: number;
  readonly timeoutMs: number;
  readonly retryJson: string | null;
  readonly metadataJson: string | null;
  readonly tags: readonly string[];
  /** From becoming due to the claim. */
  readonly waitMs: number;
  readonly createdAtMs: number;
  /** From its creation to the claim. */
  readonly ageMs: number;
  /** How often its handler threw before, in this generation. */
  readonly exceptionCount: number;
  readonly batchId: string | undefined;
  /** Something follows from its end: it is in a batch, or other jobs wait for it. */
  readonly isAwaited: boolean;
  readonly leaseToken: string;
}

type ClaimRow = readonly [
  id: string,
  queueId: string,
  type: string,
  payload: string,
  priority: number,
  seq: string,
  attempt: number,
  maxAttempts: number,
  executionSeq: number,
  crashCount: number,
  releaseCount: number,
  timeoutMs: number,
  retry: string | null,
  metadata: string | null,
  tags: readonly string[] | null,
  waitMs: number,
  createdAtMs: number,
  ageMs: number,
  exceptionCount: number,
  batchId: string | null,
  hasChildren: boolean,
  payloadVersion: number,
];

/** Who claims, for how long, and at most how much. */
export interface ClaimRequest {
  readonly projectId: string;
  readonly workerId: string;
  /** A new UUID for each call: it fences every later write. */
  readonly leaseToken: string;
  readonly leaseMs: number;
  /** The job types that the worker has handlers for, one entry for each version of their payloads, see `claimName`. */
  readonly types: readonly string[];
  readonly limit: number;
  /** How many jobs that took a worker down before may be among them. */
  readonly suspectLimit: number;
}

/** Where to look in one queue and priority: only behind `afterSeq`. */
export interface ClaimLane {
  readonly queueId: string;
  readonly priority: number;
  readonly afterSeq: string;
}

/**
 * Claims due jobs of queues without a limit, lane by lane in the given order, oldest first. Queues that are paused or
 * have got a limit meanwhile give nothing.
 */
export async function claimJobs(
  lane: Lane,
  request: ClaimRequest & { readonly lanes: readonly ClaimLane[] },
): Promise<readonly ClaimedJob[]> {
  const { lanes } = request;
  const rows = await lane.queryArrays<ClaimRow>(statements.claimJobs, [
    request.projectId,
    plainArray(lanes.map((each) => each.queueId)),
    plainArray(lanes.map((each) => each.priority)),
    plainArray(lanes.map((each) => each.afterSeq)),
    textArray(request.types),
    request.limit,
    request.suspectLimit,
    request.workerId,
    request.leaseToken,
    request.leaseMs,
  ]);
  return rows.map((row) => toClaimedJob(row, request.leaseToken));
}

/**
 * Claims due jobs of one queue with a concurrency limit, at most its headroom: the queue's row is locked, live leases
 * are counted, and the claim follows in the same transaction. The lane must have no other caller.
 */
export async function claimJobsWithinLimit(
  lane: Lane,
  request: ClaimRequest & { readonly queueId: string },
): Promise<readonly ClaimedJob[]> {
  const rows = await lane.transactionArrays<ClaimRow>([
    { statement: statements.lockQueue, values: [request.projectId, request.queueId] },
    {
      statement: statements.claimJobsWithinLimit,
      values: [
        request.projectId,
        request.queueId,
        textArray(request.types),
        request.limit,
        request.suspectLimit,
        request.workerId,
        request.leaseToken,
        request.leaseMs,
      ],
    },
  ]);
  return rows.map((row) => toClaimedJob(row, request.leaseToken));
}

function toClaimedJob(row: ClaimRow, leaseToken: string): ClaimedJob {
  return {
    id: row[0],
    queueId: row[1],
    type: row[2],
    payloadJson: row[3],
    priority: row[4],
    seq: row[5],
    attempt: row[6],
    maxAttempts: row[7],
    executionSeq: row[8],
    crashCount: row[9],
    releaseCount: row[10],
    timeoutMs: row[11],
    retryJson: row[12],
    metadataJson: row[13],
    tags: row[14] ?? [],
    waitMs: row[15],
    createdAtMs: row[16],
    ageMs: row[17],
    exceptionCount: row[18],
    batchId: row[19] ?? undefined,
    isAwaited: row[19] !== null || row[20],
    payloadVersion: row[21],
    leaseToken,
  };
}

/** A queue as claimers see it. */
export interface ClaimableQueue {
  readonly id: string;
  readonly name: string;
  /** How many jobs of the queue may be held at once in the whole cluster. */
  readonly concurrency: number | undefined;
  readonly paused: boolean;
}

/** The queues that a worker serves: the named ones, or all when `names` is undefined. */
export async function listClaimableQueues(
  db: Queryable,
  request: { readonly projectId: string; readonly names: readonly string[] | undefined },
): Promise<readonly ClaimableQueue[]> {
  const rows = await db.query<{
    readonly id: string;
    readonly name: string;
    readonly concurrency: number | null;
    readonly paused: boolean;
  }>(statements.listClaimableQueues, [
    request.projectId,
    request.names === undefined ? null : textArray(request.names),
  ]);
  return rows.map((row) => ({ ...row, concurrency: row.concurrency ?? undefined }));
}
