import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './first-steps.module.css';

const workerCommand = 'npm run worker';

function enqueueCommand(): string {
  return [
    `curl ${window.location.origin}/api/v1/projects/default/jobs \\`,
    "  -H 'Authorization: Bearer <your API key>' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"type":"http.request","payload":{"url":"https://example.com","method":"GET"}}'`,
  ].join('\n');
}

/** What to do in an installation that has run nothing yet. */
export function FirstSteps({ hasWorker }: { readonly hasWorker: boolean }) {
  return (
    <Panel title="First steps">
      <ol className={classes['steps']}>
        <li data-done={hasWorker}>
          <strong>Start a worker</strong>
          <Command text={workerCommand} />
        </li>
        <li>
          <strong>Make a key</strong> for the program that enqueues, in the{' '}
          <Link to="/settings">settings</Link>.
        </li>
        <li>
          <strong>Enqueue a job</strong>, or{' '}
          <Link to="/jobs" search={{ dialog: 'create' }}>
            create one here
          </Link>
          .
          <Command text={enqueueCommand()} />
        </li>
      </ol>
    </Panel>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <div className={classes['command']}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label="Copy command" />
    </div>
  );
}
