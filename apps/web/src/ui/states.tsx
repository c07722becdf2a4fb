import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { describeError } from '../api/describe-error.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icon-paths.ts';
import classes from './states.module.css';

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** What to do next. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** Nothing to show, why, and what to do next. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={classes['state']}>
      <span className={classes['disc']}>
        <Icon name={icon} size={20} />
      </span>
      <p className={classes['title']}>{title}</p>
      <div className={classes['text']}>{children}</div>
      {action === undefined ? null : <div className={classes['action']}>{action}</div>}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** An error with what it means and the id under which the server's log has it. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const described = describeError(error);
  return (
    <div className={classes['state']} role="alert">
      <span className={classes['disc']} data-tone="bad">
        <Icon name="warning" size={20} />
      </span>
      <p className={classes['title']}>{described.title}</p>
      <div className={classes['text']}>{described.detail}</div>
      {described.requestId === undefined ? null : (
        <p className={classes['request']}>
          Request <code>{described.requestId}</code>
        </p>
      )}
      {onRetry === undefined ? null : (
        <div className={classes['action']}>
          <Button leftSection={<Icon name="retry" size={14} />} onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}
