import { createHash, timingSafeEqual } from 'node:crypto';
import type { RouteName, Status } from '@holdfast/contract';
import { createOpenApiDocument } from '@holdfast/contract/openapi';
import { durabilityWarnings, readAppliedVersion, readServer } from '@holdfast/database';
import type { ServerInfo } from '@holdfast/database';
import type { Request } from 'express';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentInstant } from '../presenters/instant.ts';
import { createQueueGauges } from '../queue-gauges.ts';
import { readinessOf } from '../readiness.ts';
import { version } from '../version.ts';

type HealthRoute = Extract<
  RouteName,
  'getLivez' | 'getReadyz' | 'getStatus' | 'getMetrics' | 'getOpenApi'
>;

/** Health of the process and of what it stands on. */
export function healthHandlers(deps: Dependencies): Handlers<HealthRoute> {
  const { database, clock } = deps;
  const updateGauges = createQueueGauges(deps);
  // Made by us from our own table of routes: an object of JSON.
  const openApi = createOpenApiDocument() as Record<string, unknown>;
  return {
    getLivez: () => Promise.resolve({ body: { status: 'ok' } as const }),

    async getReadyz() {
      const checks = await readinessOf(deps);
      const isReady = checks.every(({ ok }) => ok);
      return isReady
        ? { body: { status: 'ok', checks } }
        : { status: 503, headers: { 'retry-after': '2' }, body: { status: 'unready', checks } };
    },

    async getStatus() {
      const [server, schemaVersion] = await Promise.all([
        readServer(database),
        readAppliedVersion(database),
      ]);
      const body: Status = {
        version,
        node: process.version,
        startedAt: presentInstant(deps.startedAt),
        database: { ...presentServer(server), schemaVersion },
        clockSkewMs: Math.round(server.nowMs - clock.nowMs()),
      };
      return { body };
    },

    async getMetrics({ request, response }) {
      requireMetricsReader(request, deps.config.metricsToken);
      await updateGauges();
      response.setHeader('content-type', deps.metrics.contentType);
      return { body: await deps.metrics.render() };
    },

    getOpenApi: () => Promise.resolve({ body: openApi }),
  };
}

function presentServer(server: ServerInfo): Omit<Status['database'], 'schemaVersion'> {
  const onOff = (value: boolean): string => (value ? 'on' : 'off');
  const warnings = durabilityWarnings(server);
  return {
    version: server.version,
    durable: warnings.length === 0,
    warnings,
    settings: {
      fsync: onOff(server.fsync),
      full_page_writes: onOff(server.fullPageWrites),
      synchronous_commit: server.synchronousCommit,
      synchronous_standby_names: server.synchronousStandbyNames,
      data_checksums: onOff(server.dataChecksums),
    },
  };
}

/** Queue names are nobody's business: without a token only this machine may read, and no proxy for others. */
function requireMetricsReader(request: Request, token: string | undefined): void {
  const isAllowed =
    token === undefined
      ? isFromThisMachine(request)
      : equalInConstantTime(request.get('authorization') ?? '', `Bearer ${token}`);
  if (!isAllowed) {
    throw new HttpProblem('unauthenticated', { headers: { 'www-authenticate': 'Bearer' } });
  }
}

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

function isFromThisMachine(request: Request): boolean {
  const address = request.socket.remoteAddress ?? '';
  const isLoopback = address === '::1' || /^(?:::ffff:)?127\./.test(address);
  return isLoopback && forwardingHeaders.every((name) => request.get(name) === undefined);
}

function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
