import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { signIn } from '../../api/session.ts';
import { InlineError } from '../../ui/inline-error.tsx';

/** E-mail and password. */
export function SignInForm() {
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '' } });
  const attempt = useMutation({ mutationFn: signIn, gcTime: 0 });
  return (
    <form
      onSubmit={form.onSubmit((values) => {
        attempt.mutate(values);
      })}
    >
      <Stack gap="sm">
        <TextInput
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <InlineError error={attempt.error} />
        <Button type="submit" variant="filled" size="sm" fullWidth loading={attempt.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
