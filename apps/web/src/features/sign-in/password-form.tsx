import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { changePassword } from '../../api/session.ts';
import { InlineError } from '../../ui/inline-error.tsx';

const minimumLength = 12;

interface Passwords {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly repeated: string;
}

function problems(values: Passwords) {
  return {
    newPassword:
      values.newPassword.length < minimumLength
        ? `At least ${String(minimumLength)} characters`
        : null,
    repeated: values.repeated === values.newPassword ? null : 'Not the same as the new password',
  };
}

/** The change which the first sign-in asks for, since the first password was printed somewhere. */
export function PasswordForm({ email }: { readonly email: string }) {
  const form = useForm<Passwords>({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '', newPassword: '', repeated: '' },
    validate: problems,
  });
  const change = useMutation({ mutationFn: changePassword, gcTime: 0 });
  return (
    <form
      onSubmit={form.onSubmit(({ currentPassword, newPassword }) => {
        change.mutate({ currentPassword, newPassword });
      })}
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          You signed in as {email} with a password that was made for you. It must be replaced before
          you go on.
        </Text>
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label="Present password"
          autoComplete="current-password"
          required
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <PasswordInput
          label="New password"
          description={`At least ${String(minimumLength)} characters; a few words are fine`}
          autoComplete="new-password"
          required
          key={form.key('newPassword')}
          {...form.getInputProps('newPassword')}
        />
        <PasswordInput
          label="New password again"
          autoComplete="new-password"
          required
          key={form.key('repeated')}
          {...form.getInputProps('repeated')}
        />
        <InlineError error={change.error} />
        <Button type="submit" variant="filled" size="sm" fullWidth loading={change.isPending}>
          Change the password
        </Button>
      </Stack>
    </form>
  );
}
