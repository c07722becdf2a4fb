import type { JobDetail } from '@holdfast/contract';
import { useState } from 'react';
import { Button } from '@mantine/core';
import { formatDurationMs } from '../../../format/duration.ts';
import { shortId } from '../../../format/id.ts';
import { Panel } from '../../../ui/panel.tsx';
import { ExecutionBadge } from '../../../ui/status-badge.tsx';
import { useNow } from '../../../ui/use-now.ts';
import { timelineLanes, timelineScale } from './timeline-model.ts';
import type { Bar, Lane } from './timeline-model.ts';
import classes from './timeline.module.css';

/** How many executions are drawn at first; a job may have hundreds. */
const drawnAtFirst = 12;

/** The life of a job as a picture: waiting, and each execution with how it ended. */
export function TimelinePanel({ job }: { readonly job: JobDetail }) {
  const nowMs = useNow();
  const [all, setAll] = useState(false);
  const lanes = timelineLanes(job, nowMs);
  const [waiting, ...executions] = lanes;
  const drawn = all ? executions : executions.slice(-drawnAtFirst);
  const shown = waiting === undefined ? drawn : [waiting, ...drawn];
  const scale = timelineScale(lanes);
  return (
    <Panel title="Timeline">
      <ol className={classes['lanes']}>
        {shown.map((lane) => (
          <LaneRow key={lane.key} lane={lane} scale={scale} />
        ))}
      </ol>
      <p className={classes['note']}>
        Widths grow with the logarithm of time: a long wait is drawn shorter than it was.
        {drawn.length < executions.length ? (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => {
              setAll(true);
            }}
          >
            Show all {executions.length} executions
          </Button>
        ) : null}
      </p>
    </Panel>
  );
}

interface LaneRowProps {
  readonly lane: Lane;
  readonly scale: (ms: number) => number;
}

function LaneRow({ lane, scale }: LaneRowProps) {
  return (
    <li className={classes['lane']}>
      <LaneName lane={lane} />
      <div className={classes['track']} aria-hidden="true">
        {lane.bars.map((bar) => (
          <BarView key={`${bar.label} ${String(bar.fromMs)}`} bar={bar} scale={scale} />
        ))}
      </div>
      <LaneEnd lane={lane} />
    </li>
  );
}

function LaneName({ lane: { execution } }: { readonly lane: Lane }) {
  if (execution === undefined) return <div className={classes['name']}>Waiting</div>;
  return (
    <div className={classes['name']}>
      <strong>#{execution.seq}</strong> attempt {execution.attempt}
      {execution.workerId === null ? null : (
        <span className={classes['worker']} title={`Worker ${execution.workerId}`}>
          on {shortId(execution.workerId)}
        </span>
      )}
    </div>
  );
}

function LaneEnd({ lane: { execution, look, bars } }: { readonly lane: Lane }) {
  const spentMs = bars
    .filter((bar) => !(bar.hatched && bar.label === 'Due'))
    .reduce((sum, bar) => sum + bar.toMs - bar.fromMs, 0);
  const reason = execution?.reason ?? undefined;
  return (
    <div className={classes['end']} title={reason}>
      {look === undefined ? null : <ExecutionBadge name={look} />}
      <span className={classes['spent']}>{formatDurationMs(spentMs)}</span>
    </div>
  );
}

interface BarViewProps {
  readonly bar: Bar;
  readonly scale: (ms: number) => number;
}

function BarView({ bar, scale }: BarViewProps) {
  const left = scale(bar.fromMs);
  const width = scale(bar.toMs) - left;
  const length = formatDurationMs(bar.toMs - bar.fromMs);
  return (
    <span
      className={classes['bar']}
      data-tone={bar.tone}
      data-hatched={bar.hatched}
      title={`${bar.label}: ${length}`}
      style={{ left: `${String(left * 100)}%`, width: `${String(width * 100)}%` }}
    >
      <span className={classes['long']}>
        {bar.label} {length}
      </span>
      <span className={classes['short']}>{length}</span>
    </span>
  );
}
