import { Button, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseFormReturnType } from '@mantine/form';
import type { Queue } from '@holdfast/contract';
import { useState } from 'react';
import { useQueueAction } from '../../api/queues.ts';
import { FormGrid } from '../../ui/form-grid.tsx';
import { InlineError } from '../../ui/inline-error.tsx';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { queueFormValues, queueSettings } from './queue-settings.ts';
import type { QueueFormValues } from './queue-settings.ts';

interface QueueFormProps {
  /** The queue to change; undefined makes a new one. */
  readonly queue: Queue | undefined;
  readonly onDone: () => void;
}

/** The name, limit and retry rule of a queue. */
export function QueueForm({ queue, onDone }: QueueFormProps) {
  const action = useQueueAction();
  const [key] = useState(newIdempotencyKey);
  const form = useForm<QueueFormValues>({ initialValues: queueFormValues(queue) });
  const submit = form.onSubmit((values) => {
    const settings = queueSettings(values, queue);
    const name = values.name.trim();
    action.mutate(
      queue === undefined
        ? { kind: 'create', queue: { name, ...settings }, key }
        : { kind: 'configure', name: queue.name, settings },
      {
        onSuccess: () => {
          notifyDone(queue === undefined ? `Queue ${name} is created` : `Queue ${name} is changed`);
          onDone();
        },
      },
    );
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          maxLength={128}
          disabled={queue !== undefined}
          data-autofocus={queue === undefined ? true : undefined}
          {...form.getInputProps('name')}
        />
        <FormGrid>
          <NumberInput
            label="Concurrency limit"
            description="Jobs that may run at the same time across all workers; empty for no limit"
            min={1}
            max={100_000}
            allowDecimal={false}
            {...form.getInputProps('concurrency')}
          />
          <TextInput
            label="Timeout of an attempt"
            description="A duration such as 30s, 5m or 2h"
            required
            {...form.getInputProps('timeout')}
          />
          <NativeSelect
            label="A failed attempt"
            data={[
              { value: 'automatic', label: 'is retried by itself' },
              { value: 'manual', label: 'waits for a person' },
            ]}
            {...form.getInputProps('retry')}
          />
          <NumberInput
            label="Attempts"
            required
            min={1}
            max={100}
            allowDecimal={false}
            {...form.getInputProps('maxAttempts')}
          />
          <BackoffFields form={form} />
        </FormGrid>
        <InlineError error={action.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onDone}>Discard</Button>
          <Button type="submit" variant="filled" loading={action.isPending}>
            {queue === undefined ? 'Create queue' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function BackoffFields({ form }: { readonly form: UseFormReturnType<QueueFormValues> }) {
  const kind = form.values.backoffKind;
  return (
    <>
      <NativeSelect
        label="Wait between attempts"
        data={[
          { value: 'exponential', label: 'doubles each time' },
          { value: 'list', label: 'by a list' },
          { value: 'fixed', label: 'is always the same' },
        ]}
        {...form.getInputProps('backoffKind')}
      />
      {kind === 'exponential' ? (
        <Group grow gap="xs" align="flex-start">
          <TextInput label="First" required {...form.getInputProps('base')} />
          <TextInput label="At most" required {...form.getInputProps('max')} />
        </Group>
      ) : (
        <TextInput
          label={kind === 'list' ? 'Waits, the last one repeats' : 'Wait'}
          required
          {...form.getInputProps('delays')}
        />
      )}
    </>
  );
}
