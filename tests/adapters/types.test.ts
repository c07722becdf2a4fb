import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { compile } from './support/compile.ts';
import { makeSampleFolder } from './support/sample-folder.ts';

const samples = makeSampleFolder();
/** What it registers would hold for all programs that are compiled with it. */
const registering = samples.programs.filter((program) => program.endsWith('register.ts'));
const registered = join(dirname(samples.all), 'registered.ts');

afterAll(() => {
  samples.remove();
});

it(
  'infers the own type of each library for tx, and compiles the programs of the guide',
  { timeout: 180_000 },
  () => {
    const inferred = join(import.meta.dirname, 'support', 'inferred-types.ts');
    const others = samples.programs.filter((program) => !registering.includes(program));
    expect(compile([inferred, ...others])).toEqual([]);
  },
);

it(
  'gives the handlers of definitions the transaction that the application registered, and wants its adapter',
  { timeout: 180_000 },
  () => {
    expect(registering).toHaveLength(1);
    writeFileSync(registered, withRegister);
    expect(compile([...registering, registered])).toEqual([]);
  },
);

const withRegister = `
import { createWorker, defineJob, Holdfast } from 'holdfast';
import type { JobContext, PgTransaction } from 'holdfast';
import { kyselyAdapter } from 'holdfast/kysely';
import type { Kysely, Transaction } from 'kysely';

interface Tables {
  invoices: { id: string };
}

export function check(db: Kysely<Tables>) {
  const holdfast = new Holdfast({ connectionString: '', adapter: kyselyAdapter(db) });
  const onPg = new Holdfast<PgTransaction>({ connectionString: '' });
  const same: Holdfast<Transaction<Tables>> = holdfast;
  // @ts-expect-error The adapter is missing.
  const forgotten = new Holdfast({ connectionString: '' });
  const forPg = (_payload: unknown, _ctx: JobContext<PgTransaction>) => 1;
  // @ts-expect-error The application has another transaction.
  const wrong = defineJob({ type: 'for.pg', run: forPg });
  const job = defineJob({
    type: 'for.kysely',
    // @ts-expect-error This is no client of pg.
    run: (_payload: { id: string }, ctx) => ctx.transaction((tx) => tx.query('select 1')),
  });
  const workers = [createWorker({ holdfast, jobs: [job] }), createWorker({ holdfast: onPg })];
  return { same, forgotten, wrong, workers };
}
`;
