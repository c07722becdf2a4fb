import { jobStatuses, jobTransitions } from '@holdfast/domain';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Transition } from '@holdfast/domain';

const folder = new URL('../sql/', import.meta.url);
const lifecycleFile = 'job-lifecycle.sql';

interface Block {
  readonly name: string;
  /** The comment lines below the name, as one text. */
  readonly header: string;
  readonly sql: string;
}

function blocksOf(file: string): readonly Block[] {
  const [, ...parts] = readFileSync(new URL(file, folder), 'utf8').split(/^-- name: /m);
  return parts.map((part) => {
    const [name = '', ...lines] = part.split('\n');
    const end = lines.findIndex((line) => !line.startsWith('--'));
    const header = lines.slice(0, end).map((line) => line.slice(3));
    return { name, header: header.join(' '), sql: lines.slice(end).join('\n') };
  });
}

/** What the header of a block must begin with, by the state machine. */
function arrowOf({ from, to }: Transition): string {
  if (to === 'dead_letter' && from[0] === to) return `${to} → history, as ${to}.`;
  return `${from.length === 0 ? '(new)' : from.join(', ')} → ${to}.`;
}

const blocks = blocksOf(lifecycleFile);
// The writes under a lease that leave the status as it is.
const statusKeeping = ['extend_leases', 'request_cancel'];

describe('the life-cycle file', () => {
  it('holds the transitions of the state machine, and the lease’s own two writes', () => {
    const names = blocks.map(({ name }) => name).sort();
    expect(names).toEqual([...Object.keys(jobTransitions), ...statusKeeping].sort());
  });

  it.each(Object.entries(jobTransitions))(
    'says of %s what the state machine says',
    (name, arrow) => {
      const header = blocks.find((block) => block.name === name)?.header;
      expect(header?.startsWith(arrowOf(arrow))).toBe(true);
    },
  );

  it.each(statusKeeping)('says of %s that the status stays', (name) => {
    const header = blocks.find((block) => block.name === name)?.header;
    expect(header).toMatch(/^claimed, running → the same\./);
  });

  it.each(blocks.map(({ name, header }) => [name, header] as const))(
    'says of %s who calls it',
    (_, header) => {
      expect(header).toContain('Called by ');
    },
  );

  it('is the only file with statements that give a job another status', () => {
    const others = readdirSync(folder).filter((file) => file !== lifecycleFile);
    const movers = others.flatMap(blocksOf).filter(({ sql }) => {
      const makesOrRemoves = /(insert into|delete from) holdfast\.(jobs|job_history)\b/.test(sql);
      const updates = sql.matchAll(/update holdfast\.jobs\b.*?\bset\b(.*?)(\bfrom\b|\bwhere\b)/gs);
      return makesOrRemoves || [...updates].some(([, set = '']) => /\bstatus =/.test(set));
    });
    expect(movers.map(({ name }) => name)).toEqual([]);
  });
});

describe('a status', () => {
  it.each(jobStatuses)('%s can be reached', (status) => {
    expect(Object.values(jobTransitions).some(({ to }) => to === status)).toBe(true);
  });

  // A cancelled job whose parent had died lives again when the parent is replayed.
  it.each(jobStatuses)('%s can be left, unless it is completed', (status) => {
    const leaves = Object.values(jobTransitions).some(
      ({ from, to }: Transition) => from.includes(status) && to !== status,
    );
    expect(leaves).toBe(status !== 'completed');
  });
});
