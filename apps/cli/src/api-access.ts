import { createApiClient } from '@holdfast/contract';
import { loadConfig } from '@holdfast/runtime/load-config';
import { z } from 'zod';
import type { ApiClient } from '@holdfast/contract';
import type { Environment } from '@holdfast/runtime';

const schema = z.object({
  HOLDFAST_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .default('http://127.0.0.1:3000'),
  HOLDFAST_API_KEY: z.string(),
  HOLDFAST_PROJECT: z.string().default('default'),
});

/** A client of the API, and the project that commands are about. */
export interface ApiAccess {
  readonly client: ApiClient;
  readonly project: string;
}

/**
 * Access to the API at `HOLDFAST_URL` with `HOLDFAST_API_KEY`.
 *
 * @throws ConfigError that lists every problem
 */
export function openApi(env: Environment): ApiAccess {
  const values = loadConfig(schema, env);
  return {
    client: createApiClient({
      baseUrl: values.HOLDFAST_URL.replace(/\/$/, ''),
      getAccessToken: () => values.HOLDFAST_API_KEY,
    }),
    project: values.HOLDFAST_PROJECT,
  };
}
