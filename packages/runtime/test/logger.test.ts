import { createLogger } from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import { describe, expect, it } from 'vitest';
import type { LogFormat } from '@holdfast/runtime';

function capture(format: LogFormat) {
  const lines: string[] = [];
  const logger = createLogger({
    name: 'scheduler',
    format,
    destination: { write: (line) => void lines.push(line) },
  });
  return { lines, logger };
}

describe('the logger', () => {
  it('writes one JSON object a line with words and fields', () => {
    const { lines, logger } = capture('json');
    logger.info({ count: 3 }, 'jobs promoted');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      name: 'scheduler',
      msg: 'jobs promoted',
      count: 3,
    });
  });

  it('never writes passwords, cookies or authorization, at the top or inside a request', () => {
    const { lines, logger } = capture('json');
    const headers = { authorization: 's3cret', cookie: 's3cret', 'set-cookie': 's3cret' };
    logger.info({ ...headers, password: 's3cret', headers, request: { headers } }, 'request');
    expect(lines.join('')).not.toContain('s3cret');
  });

  it('writes a line for people in the pretty format', () => {
    const { lines, logger } = capture('pretty');
    logger.error({ err: new Error('broken'), loop: 'cron' }, 'loop round failed');
    expect(lines[0]).toMatch(
      /^[\d:.]+ ERROR scheduler: loop round failed loop=cron\nError: broken/,
    );
  });
});

describe('the metrics', () => {
  it('carry the prefix, and a name asked for twice is one metric', async () => {
    const metrics = createMetrics();
    const options = { name: 'jobs_total', help: 'Jobs', labelNames: ['queue'] as const };
    metrics.counter(options).inc({ queue: 'mail' });
    metrics.counter(options).inc({ queue: 'mail' });
    expect(await metrics.render()).toContain('holdfast_jobs_total{queue="mail"} 2');
    expect(() => metrics.gauge(options)).toThrow('exists already as another kind');
  });
});
