import { readFileSync } from 'node:fs';
import { JobsQuery } from '@holdfast/contract';
import { ConfigError } from '@holdfast/domain';
import { openApi } from '../api-access.ts';
import { printRecords } from '../print-records.ts';
import type { Environment } from '@holdfast/runtime';
import type { JobFlags, JobVerb } from '../program.ts';

/** A command about jobs, as typed. */
type JobRequest = JobFlags & { readonly verb: JobVerb; readonly argument: string };

/** `holdfast jobs list|get|enqueue|cancel|replay` */
export async function runJobs(request: JobRequest, env: Environment): Promise<number> {
  const { client, project } = openApi(env);
  const params = { project, id: request.argument };
  switch (request.verb) {
    case 'list': {
      const page = await client.listJobs({ params: { project }, query: queryOf(request) });
      printRecords(page.data);
      break;
    }
    case 'enqueue': {
      const body = { type: request.argument, ...bodyOf(request) };
      printRecords([await client.enqueueJob({ params: { project }, body })]);
      break;
    }
    case 'get':
      printRecords([await client.getJob({ params })]);
      break;
    case 'cancel':
      printRecords([await client.cancelJob({ params, body: {} })]);
      break;
    case 'replay':
      printRecords([await client.replayJob({ params, body: {} })]);
      break;
  }
  return 0;
}

function queryOf({ queue, status, type, limit }: JobRequest) {
  const asked = {
    ...(queue === undefined ? {} : { queue }),
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
    ...(limit === undefined ? {} : { limit }),
  };
  const parsed = JobsQuery.safeParse(asked);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `  --${String(path[0] ?? '')}: ${message}`,
  );
  throw new ConfigError(`These options are not accepted:\n${problems.join('\n')}`);
}

function bodyOf({ queue, payload, payloadVersion, delay }: JobRequest) {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(delay === undefined ? {} : { delay }),
    ...(payload === undefined ? {} : { payload: parsePayload(payload) }),
    // The API says what is wrong with what is no number.
    ...(payloadVersion === undefined ? {} : { payloadVersion: Number(payloadVersion) }),
  };
}

function parsePayload(text: string): unknown {
  const json = text === '-' ? readFileSync(0, 'utf8') : text;
  try {
    return JSON.parse(json);
  } catch {
    throw new ConfigError('--payload must be JSON, or - to read JSON from standard input');
  }
}
