import { parseArgs } from 'node:util';

/** The parts of the benchmark, in the order in which they run. */
export const partNames = ['bulk', 'single', 'drain', 'batch', 'pick-up', 'memory'] as const;
export type PartName = (typeof partNames)[number];

/** What to measure, and how much of it. */
export interface BenchOptions {
  readonly parts: readonly PartName[];
  /** How often each side runs. */
  readonly runCount: number;
  /** Jobs of the bulk enqueue and of the drain. */
  readonly jobCount: number;
  /** Jobs that 50 callers enqueue one by one; a lone caller enqueues a tenth of them. */
  readonly singleCount: number;
  /** Jobs of one run of the pick-up part. */
  readonly pickUpCount: number;
  /** Jobs that lie before the worker whose memory is measured. */
  readonly backlogCount: number;
  /** Whether this is the full measurement, whose figures are kept. */
  readonly isFull: boolean;
}

const full = { jobCount: 100_000, singleCount: 20_000, pickUpCount: 300, backlogCount: 1_000_000 };
const quick = { jobCount: 20_000, singleCount: 5_000, pickUpCount: 60, backlogCount: 100_000 };

/** How the command is called. */
export const usage = `npm run bench -- [options]

  --quick         smaller amounts: for a look, not for figures to be quoted
  --only <part>   one part: ${partNames.join(', ')}; may be repeated
  --runs <n>      how often each side runs (default 3)
  --help          this text
`;

/**
 * Reads the command line; `undefined` when help is asked for.
 *
 * @throws Error that says what is wrong with it
 */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      runs: { type: 'string', default: '3' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.map(toPartName);
  const runCount = Number(values.runs);
  if (!Number.isSafeInteger(runCount) || runCount < 1) {
    throw new Error('--runs must be a whole number above 0');
  }
  return {
    ...(values.quick ? quick : full),
    parts: only.length === 0 ? partNames : partNames.filter((name) => only.includes(name)),
    runCount,
    isFull: !values.quick && only.length === 0 && runCount >= 3,
  };
}

function toPartName(text: string): PartName {
  const name = partNames.find((part) => part === text);
  if (name === undefined) throw new Error(`--only must be one of ${partNames.join(', ')}`);
  return name;
}
