import { styleText } from 'node:util';

/** What a person must know when everything runs. */
export interface Announcement {
  readonly baseUrl: string;
  /** One-time sign-in; undefined when nobody has the owner's e-mail address. */
  readonly ticket: string | undefined;
  /** False when the dashboard has not been built. */
  readonly hasDashboard: boolean;
  readonly email: string;
  /** Undefined when the password was given. */
  readonly passwordPath: string | undefined;
  /** Only when it was made at this start. */
  readonly newPassword: string | undefined;
  /** Undefined when the logs are shown here. */
  readonly logPath: string | undefined;
}

/** The last lines of a start: where to look, how to sign in, how to stop. */
export function announcement(facts: Announcement): string {
  const { baseUrl, logPath } = facts;
  return [
    '',
    `  Dashboard  ${dashboardLine(facts)}`,
    `  Sign-in    ${facts.email}${passwordHint(facts)}`,
    `  API docs   ${link(`${baseUrl}/docs`)}`,
    ...(logPath === undefined ? [] : [`  Logs       ${logPath}`]),
    '',
    '  Stop with Ctrl-C: running jobs finish first; twice stops at once. Start over: npm run reset',
    '',
  ].join('\n');
}

function dashboardLine({ baseUrl, ticket, hasDashboard }: Announcement): string {
  if (!hasDashboard) return 'not built: run "npm run build"';
  if (ticket === undefined) return link(baseUrl);
  return `${link(`${baseUrl}/?ticket=${ticket}`)}   (signs you in, once)`;
}

function passwordHint({ passwordPath, newPassword }: Announcement): string {
  if (newPassword !== undefined) {
    return `, password ${newPassword}   (shown once, kept in ${passwordPath ?? ''})`;
  }
  return passwordPath === undefined ? '' : `, password in ${passwordPath}`;
}

function link(text: string): string {
  return process.stdout.isTTY ? styleText(['cyan', 'underline'], text) : text;
}
