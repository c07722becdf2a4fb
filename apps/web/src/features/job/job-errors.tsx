import type { Execution } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './job-errors.module.css';

/** The errors of all executions, newest first. */
export function JobErrors({ executions }: { readonly executions: readonly Execution[] }) {
  const failed = executions.filter(({ error }) => error !== null).reverse();
  if (failed.length === 0) {
    return (
      <EmptyState icon="check" title="No error">
        Every error of every attempt is kept here, with its stack.
      </EmptyState>
    );
  }
  return (
    <ol className={classes['list']}>
      {failed.map((execution) => (
        <li key={execution.seq}>
          <AttemptError execution={execution} />
        </li>
      ))}
    </ol>
  );
}

function AttemptError({ execution }: { readonly execution: Execution }) {
  const { error, finishedAt, claimedAt } = execution;
  if (error === null) return null;
  const text = error.stack ?? error.message;
  return (
    <article className={classes['error']}>
      <header>
        <strong>
          Execution {execution.seq}, attempt {execution.attempt}
        </strong>
        <code>{error.code}</code>
        <span className={classes['when']}>
          <Time at={finishedAt ?? claimedAt} />
        </span>
        {error.fingerprint === null ? null : (
          <Link to="/dead-letters" search={{ fingerprint: error.fingerprint }}>
            Dead letters like it
          </Link>
        )}
        <CopyButton text={text} label="Copy the error" />
      </header>
      <p>{error.message}</p>
      {error.stack === null ? null : (
        <pre tabIndex={0} aria-label="Stack">
          {error.stack}
        </pre>
      )}
    </article>
  );
}
