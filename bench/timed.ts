import type { BenchServer } from './bench-server.ts';
import type { Sample } from './measure.ts';

const perCount = 100_000;

/** Does the work in this process; answers its rate, and processor seconds per 100 000 jobs. */
export async function timed(
  server: BenchServer,
  jobCount: number,
  work: () => Promise<void>,
): Promise<Sample> {
  const cpuBefore = process.cpuUsage();
  const serverBefore = server.cpuSeconds();
  const startedAtMs = performance.now();
  await work();
  const tookMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    'jobs/s': jobCount / (tookMs / 1_000),
    ...cpuFigures(jobCount, {
      server: difference(serverBefore, server.cpuSeconds()),
      node: (user + system) / 1e6,
    }),
  };
}

/** Processor seconds per 100 000 jobs, by the side of the wire. */
export function cpuFigures(
  jobCount: number,
  seconds: { readonly server: number | undefined; readonly node: number },
): Sample {
  const scale = perCount / jobCount;
  return {
    'PostgreSQL CPU s/100k': seconds.server === undefined ? undefined : seconds.server * scale,
    'node CPU s/100k': seconds.node * scale,
  };
}

/** `after - before` where both are known. */
export function difference(
  before: number | undefined,
  after: number | undefined,
): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}
