import type { DeadLetterGroup } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/number.ts';
import { present } from '../../format/search-params.ts';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './dead-letters.module.css';

function searchOf(group: DeadLetterGroup) {
  return present({
    fingerprint: group.fingerprint ?? undefined,
    type: group.type,
    queue: group.queue,
  });
}

const columns: readonly Column<DeadLetterGroup>[] = [
  {
    key: 'count',
    header: 'Jobs',
    align: 'end',
    cell: (group) => <strong>{formatCount(group.count)}</strong>,
  },
  {
    key: 'error',
    header: 'Error',
    grow: true,
    cell: (group) => (
      <Link to="/dead-letters" search={searchOf(group)} className={classes['message']}>
        {group.code === null ? null : <code>{group.code}</code>} {group.message ?? 'No message'}
      </Link>
    ),
  },
  { key: 'type', header: 'Type', rank: 'medium', cell: (group) => group.type },
  { key: 'queue', header: 'Queue', rank: 'wide', cell: (group) => group.queue },
  {
    key: 'first',
    header: 'First seen',
    align: 'end',
    rank: 'wide',
    cell: (group) => <Time at={group.firstSeenAt} />,
  },
  {
    key: 'last',
    header: 'Last seen',
    align: 'end',
    rank: 'medium',
    cell: (group) => <Time at={group.lastSeenAt} />,
  },
  {
    key: 'sample',
    header: 'Sample',
    align: 'end',
    cell: (group) => (
      <LinkButton
        to="/jobs/$jobId"
        params={{ jobId: group.sampleJobId }}
        search={{ tab: 'errors' }}
        size="compact-xs"
        variant="subtle"
      >
        Open one
      </LinkButton>
    ),
  },
];

function keyOf(group: DeadLetterGroup): string {
  return `${group.fingerprint ?? ''} ${group.type} ${group.queue} ${group.code ?? ''}`;
}

/** Dead letters by the fingerprint of their error. */
export function GroupsTable({ groups }: { readonly groups: readonly DeadLetterGroup[] }) {
  return <DataTable label="Errors" columns={columns} rows={groups} rowKey={keyOf} />;
}
