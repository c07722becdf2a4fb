import type { Overview } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { formatCount, formatShare, plural } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './worker-health-panel.module.css';

/** Which workers are alive, and how busy they are. */
export function WorkerHealthPanel({ workers }: { readonly workers: Overview['workers'] }) {
  const { active, quiet, stopping, lost, slots, busy } = workers;
  const none = active + quiet + stopping + lost === 0;
  return (
    <Panel title="Workers" actions={<Link to="/workers">All workers</Link>}>
      {none ? (
        <EmptyState icon="workers" title="No worker is running">
          Nothing is claimed until one starts: <code>npm run worker</code>
        </EmptyState>
      ) : (
        <div className={classes['body']}>
          <div className={classes['badges']}>
            <Badge tone="ok" icon="check">
              {formatCount(active)} active
            </Badge>
            {quiet > 0 ? <Badge tone="later">{formatCount(quiet)} quiet</Badge> : null}
            {stopping > 0 ? <Badge tone="wait">{formatCount(stopping)} stopping</Badge> : null}
            {lost > 0 ? (
              <Badge tone="bad" icon="warning">
                {formatCount(lost)} lost
              </Badge>
            ) : null}
          </div>
          <Meter value={busy} max={slots} label="Slots in use" />
          <p className={classes['note']}>
            {formatCount(busy)} of {plural(slots, 'slot')} busy
            {slots > 0 ? ` (${formatShare(busy / slots)})` : ''}
          </p>
        </div>
      )}
    </Panel>
  );
}
