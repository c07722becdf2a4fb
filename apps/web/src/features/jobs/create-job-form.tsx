import {
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseFormReturnType } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useEnqueueJob } from '../../api/jobs.ts';
import { FormGrid } from '../../ui/form-grid.tsx';
import { InlineError } from '../../ui/inline-error.tsx';
import { JsonField } from '../../ui/json/json-field.tsx';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { emptyJob, newJob, newJobProblems } from './new-job.ts';
import type { NewJobValues } from './new-job.ts';

interface CreateJobFormProps {
  readonly queue: string | undefined;
  readonly onClose: () => void;
}

/** Enqueues one job by hand, and goes to it. */
export function CreateJobForm({ queue, onClose }: CreateJobFormProps) {
  const enqueue = useEnqueueJob();
  const navigate = useNavigate();
  const [key, setKey] = useState(newIdempotencyKey);
  const form = useForm<NewJobValues>({
    initialValues: emptyJob(queue),
    validate: newJobProblems,
    // Another body under the same key would be refused as a mistake.
    onValuesChange: () => {
      setKey(newIdempotencyKey());
    },
  });
  const submit = form.onSubmit((values) => {
    enqueue.mutate(
      { job: newJob(values), key },
      {
        onSuccess: (job) => {
          notifyDone(`${job.type} is ${job.status}`);
          void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
        },
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <FormGrid>
          <TextInput label="Type" required data-autofocus {...form.getInputProps('type')} />
          <TextInput label="Queue" required {...form.getInputProps('queue')} />
        </FormGrid>
        <JsonField
          label="Payload"
          value={form.values.payload}
          onChange={(payload) => {
            form.setFieldValue('payload', payload);
          }}
        />
        <FormGrid>
          <StartFields form={form} />
          <NumberInput
            label="Priority"
            description="0 is first, 9 last"
            min={0}
            max={9}
            {...form.getInputProps('priority')}
          />
          <NumberInput
            label="Payload version"
            description="Of the shape; 1 unless the type has more"
            min={1}
            max={32_767}
            {...form.getInputProps('payloadVersion')}
          />
          <NumberInput
            label="Attempts"
            description="Empty: as the queue says"
            min={1}
            max={100}
            {...form.getInputProps('maxAttempts')}
          />
          <TextInput
            label="Timeout"
            description="Such as 30s or 5m; empty: as the queue says"
            {...form.getInputProps('timeout')}
          />
          <TagsInput
            label="Tags"
            description="Enter adds one"
            maxTags={20}
            {...form.getInputProps('tags')}
          />
        </FormGrid>
        <InlineError error={enqueue.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" variant="filled" loading={enqueue.isPending}>
            Enqueue
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function StartFields({ form }: { readonly form: UseFormReturnType<NewJobValues> }) {
  const { start } = form.values;
  return (
    <>
      <NativeSelect
        label="Starts"
        data={[
          { value: 'now', label: 'now' },
          { value: 'delay', label: 'after a delay' },
          { value: 'at', label: 'at a time' },
        ]}
        {...form.getInputProps('start')}
      />
      {start === 'delay' ? (
        <TextInput
          label="Delay"
          description="Such as 30s, 5m or 2h"
          {...form.getInputProps('delay')}
        />
      ) : null}
      {start === 'at' ? (
        <TextInput label="Time" type="datetime-local" {...form.getInputProps('runAt')} />
      ) : null}
    </>
  );
}
