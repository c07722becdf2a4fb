import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { changePassword } from '../../api/session.ts';
import { InlineError } from '../../ui/inline-error.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Panel } from '../../ui/panel.tsx';

const minimumLength = 12;

/** Changes the own password; other sessions of the same person end. */
export function PasswordPanel() {
  const change = useMutation({ mutationFn: changePassword, gcTime: 0 });
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      newPassword: (password) =>
        password.length < minimumLength ? `At least ${String(minimumLength)} characters` : null,
    },
  });
  const submit = form.onSubmit((values) => {
    change.mutate(values, {
      onSuccess: () => {
        form.reset();
        notifyDone('The password is changed');
      },
    });
  });
  return (
    <Panel title="Your password">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            required
            key={form.key('currentPassword')}
            {...form.getInputProps('currentPassword')}
          />
          <PasswordInput
            label="New password"
            description="Ends your sessions elsewhere"
            autoComplete="new-password"
            required
            key={form.key('newPassword')}
            {...form.getInputProps('newPassword')}
          />
          <InlineError error={change.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={change.isPending}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
