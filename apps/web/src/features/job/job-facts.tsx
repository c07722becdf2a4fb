import type { JobDetail } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { shortId } from '../../format/id.ts';
import { describeProgress } from '../../format/progress.ts';
import { describeBackoff } from '../../format/retry-rule.ts';
import { Facts } from '../../ui/facts.tsx';
import type { Fact } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Elapsed, Time } from '../../ui/time.tsx';

/** The job's settings and instants. */
export function JobFacts({ job }: { readonly job: JobDetail }) {
  return (
    <Panel title="Facts">
      <Facts facts={[...placeFacts(job), ...timeFacts(job), ...ruleFacts(job)]} />
    </Panel>
  );
}

function placeFacts(job: JobDetail): Fact[] {
  return [
    {
      name: 'Queue',
      value: (
        <Link to="/jobs" search={{ queue: job.queue }}>
          {job.queue}
        </Link>
      ),
    },
    { name: 'Priority', value: job.priority },
    {
      name: 'Payload version',
      value: job.payloadVersion > 1 ? job.payloadVersion : undefined,
    },
    { name: 'Attempt', value: `${String(job.attempt)} of ${String(job.maxAttempts)}` },
    { name: 'Executions', value: job.executionSeq },
    { name: 'Generation', value: job.generation > 0 ? job.generation : undefined },
    { name: 'Crashes', value: job.crashCount > 0 ? job.crashCount : undefined },
    { name: 'Releases', value: job.releaseCount > 0 ? job.releaseCount : undefined },
    { name: 'Progress', value: describeProgress(job.progress) },
    { name: 'Tags', value: job.tags.join(', ') },
    {
      name: 'Schedule',
      value:
        job.scheduleId === null ? undefined : (
          <Link to="/schedules" search={{ history: job.scheduleId }}>
            {shortId(job.scheduleId)}
          </Link>
        ),
    },
    { name: 'Batch', value: job.batchId === null ? undefined : shortId(job.batchId) },
    { name: 'Parents', value: job.parents.length === 0 ? undefined : <Parents job={job} /> },
  ];
}

const shownParents = 10;

function Parents({ job }: { readonly job: JobDetail }) {
  const moreCount = job.parents.length - shownParents;
  return (
    <>
      {job.parents.slice(0, shownParents).map(({ id, state }) => (
        <div key={id}>
          <Link to="/jobs/$jobId" params={{ jobId: id }}>
            {shortId(id)}
          </Link>{' '}
          {state}
        </div>
      ))}
      {moreCount > 0 && <div>and {moreCount} more</div>}
    </>
  );
}

function timeOf(at: string | null) {
  return at === null ? undefined : <Time at={at} />;
}

function timeFacts(job: JobDetail): Fact[] {
  const leased = job.status === 'claimed' || job.status === 'running';
  const { startedAt, finishedAt } = job;
  return [
    { name: 'Created', value: timeOf(job.createdAt) },
    { name: 'Due', value: job.status === 'scheduled' ? timeOf(job.runAt) : undefined },
    { name: 'Started', value: timeOf(startedAt) },
    { name: 'Finished', value: timeOf(finishedAt) },
    {
      name: 'Took',
      value:
        startedAt === null || finishedAt === null ? undefined : (
          <Elapsed from={startedAt} to={finishedAt} />
        ),
    },
    { name: 'Lease ends', value: leased ? timeOf(job.lockExpiresAt) : undefined },
    {
      name: 'Worker',
      value:
        leased && job.workerId !== null ? (
          <Link to="/workers">{shortId(job.workerId)}</Link>
        ) : undefined,
    },
  ];
}

function ruleFacts(job: JobDetail): Fact[] {
  return [
    { name: 'Timeout', value: job.timeout },
    { name: 'Retries', value: job.retry === 'automatic' ? 'by themselves' : 'by a person' },
    { name: 'Backoff', value: describeBackoff(job.backoff) },
  ];
}
