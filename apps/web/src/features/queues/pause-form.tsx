import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Queue } from '@holdfast/contract';
import { useQueueAction } from '../../api/queues.ts';
import { InlineError } from '../../ui/inline-error.tsx';
import { currentTimeMs } from '../../ui/use-now.ts';
import { notifyDone } from '../../ui/notify.tsx';

const minuteMs = 60_000;

const ends = [
  { value: '', label: 'when somebody resumes it' },
  { value: String(15 * minuteMs), label: 'in 15 minutes' },
  { value: String(60 * minuteMs), label: 'in an hour' },
  { value: String(4 * 60 * minuteMs), label: 'in 4 hours' },
  { value: String(24 * 60 * minuteMs), label: 'in a day' },
];

const explanations = {
  pause:
    'No worker claims its jobs from now on. Running jobs finish; new jobs are accepted and wait.',
  drain:
    'The queue is paused, and counted as drained once its running jobs have ended. Watch “Running” reach 0.',
};

interface PauseFormProps {
  readonly kind: 'pause' | 'drain';
  readonly queue: Queue;
  readonly onDone: () => void;
}

/** Why and until when a queue is paused. */
export function PauseForm({ kind, queue, onDone }: PauseFormProps) {
  const action = useQueueAction();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { reason: '', end: '' },
    validate: {
      reason: (reason) => (reason.trim() === '' ? 'Say why, for your colleagues' : null),
    },
  });
  const submit = form.onSubmit(({ reason, end }) => {
    const until = end === '' ? undefined : new Date(currentTimeMs() + Number(end)).toISOString();
    action.mutate(
      { kind, name: queue.name, pause: { reason: reason.trim(), until } },
      {
        onSuccess: () => {
          notifyDone(`Queue ${queue.name} is paused`);
          onDone();
        },
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">
          <strong>{queue.name}</strong>: {explanations[kind]}
        </Text>
        <TextInput
          label="Reason"
          required
          maxLength={500}
          data-autofocus
          placeholder="The mail provider is down"
          key={form.key('reason')}
          {...form.getInputProps('reason')}
        />
        <NativeSelect
          label="It ends"
          data={ends}
          key={form.key('end')}
          {...form.getInputProps('end')}
        />
        <InlineError error={action.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onDone}>Leave it open</Button>
          <Button type="submit" variant="filled" loading={action.isPending}>
            {kind === 'pause' ? 'Pause' : 'Drain'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
