import type { ApiKey } from '@holdfast/contract';
import { ActionButton } from '../../ui/action-button.tsx';
import { Badge } from '../../ui/badge.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { useNow } from '../../ui/use-now.ts';

const columns: readonly Column<ApiKey>[] = [
  { key: 'name', header: 'Name', cell: (key) => <strong>{key.name}</strong> },
  { key: 'prefix', header: 'Begins with', grow: true, cell: (key) => <code>{key.prefix}…</code> },
  { key: 'scopes', header: 'May', rank: 'medium', cell: (key) => key.scopes.join(', ') },
  { key: 'state', header: 'State', cell: (key) => <KeyState apiKey={key} /> },
  {
    key: 'used',
    header: 'Last used',
    align: 'end',
    rank: 'medium',
    cell: (key) => (key.lastUsedAt === null ? 'never' : <Time at={key.lastUsedAt} />),
  },
  {
    key: 'created',
    header: 'Created',
    align: 'end',
    rank: 'wide',
    cell: (key) => <Time at={key.createdAt} />,
  },
];

interface ApiKeysTableProps {
  readonly keys: readonly ApiKey[];
  readonly onRevoke: (key: ApiKey) => void;
}

/** The keys, revoked ones too. */
export function ApiKeysTable({ keys, onRevoke }: ApiKeysTableProps) {
  const revoke: Column<ApiKey> = {
    key: 'revoke',
    header: 'Revoke',
    align: 'end',
    cell: (key) =>
      key.revokedAt === null ? (
        <ActionButton
          size="row"
          label="Revoke"
          look="danger"
          onClick={() => {
            onRevoke(key);
          }}
        />
      ) : null,
  };
  return (
    <DataTable
      label="API keys"
      columns={[...columns, revoke]}
      rows={keys}
      rowKey={(key) => key.id}
    />
  );
}

function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  const nowMs = useNow();
  if (apiKey.revokedAt !== null) {
    return (
      <Badge tone="off" icon="slash">
        Revoked
      </Badge>
    );
  }
  if (apiKey.expiresAt !== null && Date.parse(apiKey.expiresAt) <= nowMs) {
    return (
      <Badge tone="warn" icon="clock">
        Expired
      </Badge>
    );
  }
  return (
    <Badge tone="ok" icon="check">
      Valid
    </Badge>
  );
}
