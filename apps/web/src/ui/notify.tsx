import { notifications } from '@mantine/notifications';
import { describeError } from '../api/describe-error.ts';
import { Icon } from './icon.tsx';

/** Says that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'brand', icon: <Icon name="check" size={16} /> });
}

/** Says that something was refused, and why. */
export function notifyError(error: unknown): void {
  const { title, detail, requestId } = describeError(error);
  const message = requestId === undefined ? detail : `${detail} (request ${requestId})`;
  notifications.show({ title, message, color: 'red', autoClose: 12_000 });
}
