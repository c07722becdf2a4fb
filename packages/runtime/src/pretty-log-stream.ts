import type { DestinationStream } from 'pino';

const hiddenFields: ReadonlySet<string> = new Set([
  'level',
  'time',
  'msg',
  'name',
  'pid',
  'hostname',
  'err',
]);

/** Turns each JSON log line into `12:30:01.250 INFO scheduler: jobs promoted count=3`, for people. */
export function prettyLogStream(output: DestinationStream): DestinationStream {
  return {
    write: (line: string) => {
      output.write(prettyLine(line));
    },
  };
}

function prettyLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const time = text(entry['time']).slice(11, 23);
  const level = text(entry['level']).toUpperCase().padEnd(5);
  const fields = Object.entries(entry)
    .filter(([key]) => !hiddenFields.has(key))
    .map(([key, value]) => ` ${key}=${text(value)}`)
    .join('');
  return `${time} ${level} ${text(entry['name'])}: ${text(entry['msg'])}${fields}${stackOf(entry['err'])}\n`;
}

function parseEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? { ...entry } : undefined;
  } catch {
    return undefined;
  }
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const stack = 'stack' in error ? error.stack : undefined;
  return typeof stack === 'string' ? `\n${stack}` : ` error=${text(error)}`;
}

function text(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
