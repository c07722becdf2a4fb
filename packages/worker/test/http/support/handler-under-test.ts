import { createHttpRequestHandler } from '../../../src/http/http-request-handler.ts';
import type {
  HttpFailureReport,
  HttpRequestHandlerOptions,
} from '../../../src/http/http-request-handler.ts';
import { parseEgressPolicy } from '../../../src/http/egress-policy.ts';
import type { AddressLookup } from '../../../src/http/address-resolver.ts';
import type { HttpRequestResult } from '../../../src/http/http-request-result.ts';
import { makeJobContext } from './job-context.ts';
import type { AttemptFacts } from './job-context.ts';

/** The operator's settings and surroundings of a test. */
export interface Surroundings {
  readonly allowHosts?: string;
  readonly allowCidrs?: string;
  readonly lookup?: AddressLookup;
  readonly trustedCertificates?: readonly string[];
  readonly now?: () => number;
}

/** How an attempt ended, with the fields that matter to the engine. */
export type Ending =
  | { readonly ok: true; readonly result: HttpRequestResult }
  | { readonly ok: false; readonly error: Error & Readonly<Record<string, unknown>> };

/** The handler with a name server that knows only what the test says. */
export function makeHandler(surroundings: Surroundings) {
  const reports: HttpFailureReport[] = [];
  const options: HttpRequestHandlerOptions = {
    policy: parseEgressPolicy(surroundings),
    version: '9.9.9',
    lookup: surroundings.lookup ?? noNames,
    reportFailure: (report) => reports.push(report),
    ...(surroundings.now === undefined ? {} : { now: surroundings.now }),
    ...(surroundings.trustedCertificates === undefined
      ? {}
      : { trustedCertificates: surroundings.trustedCertificates }),
  };
  const handler = createHttpRequestHandler(options);
  return {
    reports,
    /** Runs one attempt to its end, whichever it is. */
    async run(payload: unknown, facts: AttemptFacts = {}): Promise<Ending> {
      try {
        const result = await handler(payload, makeJobContext(facts));
        return { ok: true, result: result as HttpRequestResult };
      } catch (error) {
        return { ok: false, error: error as Error & Record<string, unknown> };
      }
    },
  };
}

/** Answers every name with these addresses. */
export function everyNameIs(...addresses: readonly string[]): AddressLookup {
  return () => Promise.resolve(addresses.map((address) => ({ address })));
}

const noNames: AddressLookup = (hostname) =>
  Promise.reject(Object.assign(new Error(`no such name: ${hostname}`), { code: 'ENOTFOUND' }));
