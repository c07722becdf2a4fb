import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobInput, permissions, routes } from '@holdfast/contract';
import type { Route } from '@holdfast/contract';
import { createOpenApiDocument } from '@holdfast/contract/openapi';
import { describe, expect, it } from 'vitest';

const all = Object.entries<Route>(routes);

describe('the table of routes', () => {
  it('has no two routes at one place', () => {
    const places = all.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(all)('%s declares a parameter for each part of its path, and no other', (_, route) => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(route.params?.shape ?? {}).sort()).toEqual(inPath.sort());
  });

  it.each(all)('%s asks for a permission exactly when it is about a project', (_, route) => {
    const isOfProject = route.path.startsWith('/api/v1/projects/{project}');
    expect(route.access.kind === 'project').toBe(isOfProject);
    if (route.access.kind === 'project')
      expect(permissions).toHaveProperty(route.access.permission);
  });

  it.each(all.filter(([, { statuses }]) => statuses[0] === 201))(
    '%s creates something, so it takes an idempotency key',
    (_, route) => {
      expect(route.idempotent).toBe(true);
    },
  );

  it.each(all.filter(([, { body }]) => body !== undefined))(
    '%s refuses fields that it does not know',
    (_, route) => {
      const parsed = route.body?.safeParse({ surelyUnknown: 1 });
      expect(parsed?.error?.issues.some(({ code }) => code === 'unrecognized_keys')).toBe(true);
    },
  );
});

describe('the OpenAPI document', () => {
  it('is written down as it is made', () => {
    const file = join(import.meta.dirname, '..', 'openapi.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(createOpenApiDocument())),
    );
  });
});

describe('a job as sent', () => {
  it('is read with its defaults and with durations in milliseconds', () => {
    const read = JobInput.parse({
      type: 'x',
      delay: 'PT1M30S',
      backoff: { kind: 'exponential', max: '10m' },
      runAt: null,
    });
    expect(read).toEqual({
      type: 'x',
      queue: 'default',
      delay: 90_000,
      backoff: { kind: 'exponential', baseMs: 5_000, factor: 2, maxMs: 600_000, jitter: 'full' },
      runAt: null,
      tags: [],
      metadata: {},
      payloadVersion: 1,
    });
  });
});
