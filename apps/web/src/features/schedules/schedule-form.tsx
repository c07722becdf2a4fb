import { Button, Group, NativeSelect, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import type { Schedule } from '@holdfast/contract';
import { useState } from 'react';
import { useScheduleAction } from '../../api/schedules.ts';
import { FormGrid } from '../../ui/form-grid.tsx';
import { InlineError } from '../../ui/inline-error.tsx';
import { JsonField } from '../../ui/json/json-field.tsx';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { SchedulePreview } from './schedule-preview.tsx';
import { scheduleInput, scheduleProblems, scheduleValues } from './schedule-values.ts';
import type { ScheduleValues } from './schedule-values.ts';

const typingPauseMs = 300;
const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

interface ScheduleFormProps {
  /** The schedule to change; undefined makes a new one. */
  readonly schedule: Schedule | undefined;
  readonly onDone: () => void;
}

/** When, and what. The next times are shown while one types. */
export function ScheduleForm({ schedule, onDone }: ScheduleFormProps) {
  const action = useScheduleAction();
  const [key, setKey] = useState(newIdempotencyKey);
  const form = useForm<ScheduleValues>({
    initialValues: scheduleValues(schedule),
    validate: scheduleProblems,
    // Another body under the same key would be refused as a mistake.
    onValuesChange: () => {
      setKey(newIdempotencyKey());
    },
  });
  const [cron] = useDebouncedValue(form.values.cron, typingPauseMs);
  const submit = form.onSubmit((values) => {
    const { name, ...change } = scheduleInput(values, schedule);
    action.mutate(
      schedule === undefined
        ? { kind: 'create', schedule: { name, ...change }, key }
        : { kind: 'edit', id: schedule.id, change },
      {
        onSuccess: () => {
          notifyDone(`Schedule ${name} is ${schedule === undefined ? 'created' : 'changed'}`);
          onDone();
        },
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          maxLength={128}
          disabled={schedule !== undefined}
          data-autofocus={schedule === undefined ? true : undefined}
          {...form.getInputProps('name')}
        />
        <RhythmFields form={form} />
        {form.values.rhythm === 'cron' ? (
          <SchedulePreview cron={cron.trim()} timezone={form.values.timezone} />
        ) : null}
        <FormGrid>
          <TextInput label="Job type" required {...form.getInputProps('type')} />
          <TextInput label="Queue" required {...form.getInputProps('queue')} />
          <NativeSelect
            label="Missed instants"
            data={[
              { value: 'latest', label: 'only the latest is made up for' },
              { value: 'all', label: 'all are made up for' },
              { value: 'none', label: 'are left out' },
            ]}
            {...form.getInputProps('catchUp')}
          />
          <NativeSelect
            label="While the job before still runs"
            data={[
              { value: 'skip', label: 'skip this instant' },
              { value: 'allow', label: 'run beside it' },
            ]}
            {...form.getInputProps('overlap')}
          />
        </FormGrid>
        <JsonField
          label="Payload"
          rows={6}
          value={form.values.payload}
          onChange={(payload) => {
            form.setFieldValue('payload', payload);
          }}
        />
        <InlineError error={action.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onDone}>Discard</Button>
          <Button type="submit" variant="filled" loading={action.isPending}>
            {schedule === undefined ? 'Create schedule' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function RhythmFields({ form }: { readonly form: UseFormReturnType<ScheduleValues> }) {
  const { rhythm } = form.values;
  return (
    <FormGrid>
      <NativeSelect
        label="Fires"
        data={[
          { value: 'cron', label: 'by a cron expression' },
          { value: 'every', label: 'at an interval' },
        ]}
        {...form.getInputProps('rhythm')}
      />
      {rhythm === 'cron' ? (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day, month, weekday"
          required
          maxLength={128}
          spellCheck={false}
          {...form.getInputProps('cron')}
        />
      ) : (
        <TextInput
          label="Interval"
          description="Such as 30s, 5m or 2h, counted from the creation"
          required
          {...form.getInputProps('every')}
        />
      )}
      <Select
        label="Time zone"
        searchable
        allowDeselect={false}
        data={timeZones}
        {...form.getInputProps('timezone')}
      />
    </FormGrid>
  );
}
