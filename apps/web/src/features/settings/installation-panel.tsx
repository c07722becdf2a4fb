import { Skeleton } from '@mantine/core';
import type { Status } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { statusQueries } from '../../api/status.ts';
import { formatDurationMs } from '../../format/duration.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './settings.module.css';

/** Versions, and whether the database keeps what it has acknowledged. */
export function InstallationPanel() {
  const status = useQuery(statusQueries.status());
  return (
    <Panel title="Installation">
      {status.data !== undefined ? (
        <InstallationFacts status={status.data} />
      ) : status.isError ? (
        <ErrorState error={status.error} onRetry={() => void status.refetch()} />
      ) : (
        <Skeleton height={150} />
      )}
    </Panel>
  );
}

function InstallationFacts({ status }: { readonly status: Status }) {
  const { database } = status;
  const settings = Object.entries(database.settings).map(([name, value]) => ({ name, value }));
  return (
    <>
      <Facts
        facts={[
          { name: 'Holdfast', value: status.version },
          { name: 'Node.js', value: status.node },
          { name: 'PostgreSQL', value: database.version },
          { name: 'Schema version', value: database.schemaVersion },
          {
            name: 'Durability',
            value: database.durable ? (
              <Badge tone="ok" icon="check">
                Acknowledged means kept
              </Badge>
            ) : (
              <Badge tone="bad" icon="warning">
                Acknowledged jobs may be lost
              </Badge>
            ),
          },
          ...settings,
          {
            name: 'Clock skew to the database',
            value: formatDurationMs(Math.abs(status.clockSkewMs)),
          },
          { name: 'API running since', value: <Time at={status.startedAt} /> },
        ]}
      />
      {database.warnings.length === 0 ? null : (
        <ul className={classes['warnings']}>
          {database.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </>
  );
}
