import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { deadLetterQueries } from '../../api/dead-letters.ts';
import { plural } from '../../format/number.ts';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import classes from './dead-letters.module.css';
import { DeadLettersTable } from './dead-letters-table.tsx';
import { GroupsTable } from './groups-table.tsx';

const route = getRouteApi('/shell/dead-letters');

/** Jobs that failed for the last time: what they have in common, and each of them. */
export function DeadLettersPage() {
  return (
    <Page
      title="Dead letters"
      subtitle="Jobs that failed for the last time. They stay here until they are replayed."
    >
      <GroupsPanel />
      <ListPanel />
    </Page>
  );
}

function GroupsPanel() {
  const groups = useQuery(deadLetterQueries.groups());
  if (groups.data === undefined) {
    return (
      <Panel title="By error" flush>
        {groups.isError ? (
          <ErrorState error={groups.error} onRetry={() => void groups.refetch()} />
        ) : (
          <TableSkeleton rows={3} />
        )}
      </Panel>
    );
  }
  const total = groups.data.data.reduce((sum, group) => sum + group.count, 0);
  return (
    <Panel title={`By error: ${plural(total, 'dead letter')}`} flush>
      {groups.data.data.length === 0 ? (
        <EmptyState icon="check" title="No dead letters">
          A job comes here when its attempts are used up, when its error forbids a retry, or when it
          killed its worker three times.
        </EmptyState>
      ) : (
        <GroupsTable groups={groups.data.data} />
      )}
    </Panel>
  );
}

function ListPanel() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(deadLetterQueries.list({ ...search, limit: 50 }));
  const { cursor, ...filters } = search;
  const filtered = Object.keys(filters).length > 0;
  if (list.data === undefined) {
    return (
      <Panel title="Jobs" flush>
        {list.isError ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <TableSkeleton />
        )}
      </Panel>
    );
  }
  const { data, nextCursor } = list.data;
  // With nothing at all the groups above have said so already.
  if (data.length === 0 && !filtered && cursor === undefined) return null;
  return (
    <Panel
      title={filtered ? `Jobs with ${describeFilters(filters)}` : 'Newest jobs'}
      flush
      actions={
        filtered ? (
          <Button
            variant="subtle"
            leftSection={<Icon name="close" size={13} />}
            onClick={() => void navigate({ search: {} })}
          >
            Show all
          </Button>
        ) : undefined
      }
    >
      {data.length === 0 ? (
        <EmptyState icon="search" title="None matches">
          They may have been replayed in the meantime.
        </EmptyState>
      ) : (
        <DeadLettersTable jobs={data} />
      )}
      {nextCursor === null && cursor === undefined ? null : (
        <Pager filters={filters} nextCursor={nextCursor} />
      )}
    </Panel>
  );
}

interface Filters {
  readonly queue?: string;
  readonly type?: string;
  readonly fingerprint?: string;
}

function describeFilters({ queue, type, fingerprint }: Filters): string {
  return [
    queue === undefined ? undefined : `queue ${queue}`,
    type === undefined ? undefined : `type ${type}`,
    fingerprint === undefined ? undefined : 'this error',
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

interface PagerProps {
  readonly filters: Filters;
  readonly nextCursor: string | null;
}

function Pager({ filters, nextCursor }: PagerProps) {
  return (
    <nav aria-label="Pages of dead letters" className={classes['pager']}>
      <LinkButton to="/dead-letters" search={filters}>
        Newest
      </LinkButton>
      {nextCursor === null ? null : (
        <LinkButton to="/dead-letters" search={{ ...filters, cursor: nextCursor }}>
          Older
        </LinkButton>
      )}
    </nav>
  );
}
