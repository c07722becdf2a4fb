import { TimezoneInvalidError } from './cron-errors.ts';

// An area and a place, or UTC under one of its names: no offsets, no POSIX rules such as EST5EDT.
const zoneName = /^(?:[A-Za-z_]{2,32}(?:\/[A-Za-z0-9_+-]{1,32}){1,2}|UTC|GMT)$/i;

/**
 * The canonical spelling of an IANA time zone: `europe/berlin` → `Europe/Berlin`, `Etc/UTC` → `UTC`.
 *
 * @throws TimezoneInvalidError for anything else: offsets, POSIX rules, unknown places, the empty string
 */
export function canonicalTimezone(name: string): string {
  const canonical = zoneName.test(name) ? resolve(name) : undefined;
  if (canonical === undefined) {
    throw new TimezoneInvalidError(
      'The time zone must be an IANA name such as Europe/Berlin, America/New_York or UTC',
    );
  }
  return canonical;
}

function resolve(name: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    return zoneName.test(timeZone) ? timeZone : undefined;
  } catch {
    return undefined;
  }
}
