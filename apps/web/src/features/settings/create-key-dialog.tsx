import {
  Button,
  Checkbox,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { apiKeyScopes } from '@holdfast/contract';
import type { ApiKeyScope, CreatedApiKey } from '@holdfast/contract';
import { useState } from 'react';
import { useCreateApiKey } from '../../api/api-keys.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { InlineError } from '../../ui/inline-error.tsx';
import { currentTimeMs } from '../../ui/use-now.ts';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import classes from './settings.module.css';

const dayMs = 86_400_000;

const scopeMeanings: Record<ApiKeyScope, string> = {
  enqueue: 'Enqueue jobs',
  read: 'Read jobs, queues and figures',
  manage: 'Do everything that an operator does, and the two above',
};

const lifetimes = [
  { value: '', label: 'Never' },
  { value: String(30 * dayMs), label: 'In 30 days' },
  { value: String(90 * dayMs), label: 'In 90 days' },
  { value: String(365 * dayMs), label: 'In a year' },
];

interface CreateKeyDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Makes a key and shows it: the only time that anything does. */
export function CreateKeyDialog({ opened, onClose }: CreateKeyDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create an API key" closeOnClickOutside={false}>
      {opened ? <CreateKey onClose={onClose} /> : null}
    </Modal>
  );
}

function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<CreatedApiKey>();
  return created === undefined ? (
    <KeyForm onCreated={setCreated} onClose={onClose} />
  ) : (
    <ShownOnce created={created} onClose={onClose} />
  );
}

interface KeyFormProps {
  readonly onCreated: (key: CreatedApiKey) => void;
  readonly onClose: () => void;
}

function KeyForm({ onCreated, onClose }: KeyFormProps) {
  const create = useCreateApiKey();
  const form = useForm<{ name: string; scopes: string[]; lifetime: string }>({
    initialValues: { name: '', scopes: ['enqueue'], lifetime: '' },
    validate: { scopes: (scopes) => (scopes.length === 0 ? 'Choose what it may do' : null) },
  });
  const submit = form.onSubmit(({ name, scopes, lifetime }) => {
    const expiresAt =
      lifetime === '' ? undefined : new Date(currentTimeMs() + Number(lifetime)).toISOString();
    const chosen = apiKeyScopes.filter((scope) => scopes.includes(scope));
    create.mutate(
      {
        input: { name: name.trim(), scopes: chosen, expiresAt },
        idempotencyKey: newIdempotencyKey(),
      },
      { onSuccess: onCreated },
    );
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="Which program uses it, such as billing-api"
          required
          maxLength={128}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Checkbox.Group label="It may" {...form.getInputProps('scopes')}>
          <Stack gap={8} mt={6}>
            {apiKeyScopes.map((scope) => (
              <Checkbox key={scope} size="xs" value={scope} label={scopeMeanings[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        <NativeSelect label="It expires" data={lifetimes} {...form.getInputProps('lifetime')} />
        <InlineError error={create.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" variant="filled" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ShownOnceProps {
  readonly created: CreatedApiKey;
  readonly onClose: () => void;
}

function ShownOnce({ created, onClose }: ShownOnceProps) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        This is the key <strong>{created.name}</strong>. Copy it now: only its hash is kept, and
        nothing can show it again.
      </Text>
      <div className={classes['key']}>
        <code>{created.key}</code>
        <CopyButton text={created.key} label="Copy the key" />
      </div>
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          I have copied it
        </Button>
      </Group>
    </Stack>
  );
}
