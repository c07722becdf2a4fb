import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { statements } from '@holdfast/database';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.drop();
});

it.each(Object.values(statements))('the server accepts $name', async ({ name, text }) => {
  await expect(test.database.execute(`prepare ${name} as ${text}`)).resolves.toBeUndefined();
});
