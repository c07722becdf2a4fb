import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { InlineError } from './inline-error.tsx';

interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly title: string;
  readonly children: ReactNode;
  readonly confirmLabel: string;
  readonly tone?: 'default' | 'danger';
  /** Whether a reason is asked for, and whether it must be given. */
  readonly reason?: 'none' | 'optional' | 'required';
  readonly busy: boolean;
  readonly error: unknown;
  readonly onConfirm: (reason: string | undefined) => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back, and for the reason that the record keeps. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      {props.opened ? <ConfirmForm {...props} /> : null}
    </Modal>
  );
}

function ConfirmForm(props: ConfirmDialogProps) {
  const { reason = 'none', tone = 'default' } = props;
  const [text, setText] = useState('');
  const missing = reason === 'required' && text.trim() === '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!missing) props.onConfirm(text.trim() === '' ? undefined : text.trim());
      }}
    >
      <Stack gap="sm">
        <Text size="sm" component="div">
          {props.children}
        </Text>
        {reason === 'none' ? null : (
          <TextInput
            label="Reason"
            description="Kept with the record of this action"
            required={reason === 'required'}
            maxLength={500}
            data-autofocus
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
            }}
          />
        )}
        <InlineError error={props.error} />
        <Group justify="flex-end" gap="xs">
          <Button onClick={props.onClose}>Keep as it is</Button>
          <Button
            type="submit"
            variant="filled"
            {...(tone === 'danger' ? { color: 'red' } : {})}
            loading={props.busy}
            disabled={missing}
          >
            {props.confirmLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
