import { Button, Group, Modal, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { JobDetail } from '@holdfast/contract';
import { useJobAction } from '../../api/jobs.ts';
import type { JobChange } from '../../api/jobs.ts';
import { FormGrid } from '../../ui/form-grid.tsx';
import { InlineError } from '../../ui/inline-error.tsx';
import { JsonField } from '../../ui/json/json-field.tsx';
import { parseJson } from '../../ui/json/parse-json.ts';
import { notifyDone } from '../../ui/notify.tsx';

interface EditJobDialogProps {
  readonly job: JobDetail;
  readonly opened: boolean;
  readonly onClose: () => void;
}

interface EditValues {
  readonly payload: string;
  readonly priority: number | string;
  readonly tags: string[];
  /** The viewer's own time, without a zone; empty leaves the time as it is. */
  readonly runAt: string;
}

/** Changes a job that has not started. */
export function EditJobDialog({ job, opened, onClose }: EditJobDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Edit the job" size="lg">
      {opened ? <EditForm job={job} onClose={onClose} /> : null}
    </Modal>
  );
}

function changeOf(values: EditValues, before: EditValues): JobChange {
  const payload = parseJson(values.payload);
  const payloadChanged = values.payload !== before.payload && payload.ok;
  return {
    ...(payloadChanged ? { payload: payload.value ?? null } : {}),
    ...(values.priority === before.priority ? {} : { priority: Number(values.priority) }),
    ...(values.tags.join('\n') === before.tags.join('\n') ? {} : { tags: values.tags }),
    ...(values.runAt === '' ? {} : { runAt: new Date(values.runAt).toISOString() }),
  };
}

function EditForm({ job, onClose }: Omit<EditJobDialogProps, 'opened'>) {
  const action = useJobAction();
  const form = useForm<EditValues>({
    initialValues: {
      payload: JSON.stringify(job.payload ?? null, undefined, 2),
      priority: job.priority,
      tags: [...job.tags],
      runAt: '',
    },
    validate: {
      payload: (text) => {
        const parsed = parseJson(text);
        return parsed.ok ? null : parsed.message;
      },
    },
  });
  const submit = form.onSubmit((values) => {
    const patch = changeOf(values, form.getInitialValues());
    if (Object.keys(patch).length === 0) {
      onClose();
      return;
    }
    action.mutate(
      { id: job.id, action: { kind: 'edit', patch } },
      {
        onSuccess: () => {
          notifyDone('The job is changed');
          onClose();
        },
      },
    );
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <JsonField
          label="Payload"
          rows={10}
          value={form.values.payload}
          onChange={(payload) => {
            form.setFieldValue('payload', payload);
          }}
        />
        <FormGrid>
          <NumberInput
            label="Priority"
            description="0 is first, 9 last"
            min={0}
            max={9}
            {...form.getInputProps('priority')}
          />
          <TextInput
            label="Run at"
            description="Empty leaves the time as it is"
            type="datetime-local"
            {...form.getInputProps('runAt')}
          />
        </FormGrid>
        <TagsInput label="Tags" maxTags={20} {...form.getInputProps('tags')} />
        <InlineError error={action.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" variant="filled" loading={action.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
