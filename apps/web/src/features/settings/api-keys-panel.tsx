import type { ApiKey } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiKeyQueries, useRevokeApiKey } from '../../api/api-keys.ts';
import { useBlocked } from '../../api/access.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { ApiKeysTable } from './api-keys-table.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';

/** The keys by which programs enqueue and read. */
export function ApiKeysPanel() {
  const blocked = useBlocked('key.manage');
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const create = (
    <ActionButton
      label="Create key"
      icon="plus"
      look="primary"
      blockedBecause={blocked}
      onClick={() => {
        setCreating(true);
      }}
    />
  );
  return (
    <Panel title="API keys" flush actions={create}>
      {blocked === undefined ? (
        <KeyList onRevoke={setRevoking} />
      ) : (
        <EmptyState icon="key" title="API keys are kept by the administrators">
          {blocked}
        </EmptyState>
      )}
      <CreateKeyDialog
        opened={creating}
        onClose={() => {
          setCreating(false);
        }}
      />
      {revoking === undefined ? null : (
        <RevokeDialog
          apiKey={revoking}
          onClose={() => {
            setRevoking(undefined);
          }}
        />
      )}
    </Panel>
  );
}

function KeyList({ onRevoke }: { readonly onRevoke: (key: ApiKey) => void }) {
  const keys = useQuery(apiKeyQueries.list());
  if (keys.data === undefined) {
    return keys.isError ? (
      <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
    ) : (
      <TableSkeleton rows={3} />
    );
  }
  if (keys.data.data.length === 0) {
    return (
      <EmptyState icon="key" title="No key yet">
        A program that enqueues jobs needs a key. It is shown once, when it is created.
      </EmptyState>
    );
  }
  return <ApiKeysTable keys={keys.data.data} onRevoke={onRevoke} />;
}

interface RevokeDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function RevokeDialog({ apiKey, onClose }: RevokeDialogProps) {
  const revoke = useRevokeApiKey();
  return (
    <ConfirmDialog
      opened
      title={`Revoke the key ${apiKey.name}?`}
      confirmLabel="Revoke the key"
      tone="danger"
      busy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => {
        revoke.mutate(apiKey.id, {
          onSuccess: () => {
            notifyDone(`The key ${apiKey.name} is revoked`);
            onClose();
          },
        });
      }}
    >
      Whatever uses <code>{apiKey.prefix}…</code> is refused from now on. This is for good.
    </ConfirmDialog>
  );
}
