/** What one run of one side measured, by the name of the figure. */
export type Sample = Readonly<Record<string, number | undefined>>;

/** One of the ways of doing the same work that are compared. */
export interface Side {
  readonly name: string;
  run(): Promise<Sample>;
}

/** A figure over all runs of a side. */
export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

/** All figures of a side. */
export interface SideResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, Figure>>;
}

/** What is said about two figures, or about one. */
export interface Verdict {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What is wanted; undefined for a figure that is only told. */
  readonly wanted?: { readonly atLeast?: number; readonly atMost?: number };
}

/** A part of the benchmark with its results. */
export interface PartResult {
  readonly title: string;
  readonly sides: readonly SideResult[];
  readonly verdicts: readonly Verdict[];
}

/** Runs the sides in turn, A B A B, so that a busy minute of the machine meets all of them. */
export async function alternate(
  runCount: number,
  sides: readonly Side[],
): Promise<readonly SideResult[]> {
  const samples = sides.map((): Sample[] => []);
  for (let run = 1; run <= runCount; run += 1) {
    for (const [index, side] of sides.entries()) {
      const sample = await side.run();
      samples[index]?.push(sample);
      console.log(`  run ${run}: ${side.name}: ${describeSample(sample)}`);
    }
  }
  return sides.map(({ name }, index) => ({ name, figures: summarize(samples[index] ?? []) }));
}

/** The median of a figure of a side. */
export function medianOf(sides: readonly SideResult[], name: string, figure: string): number {
  return figureOf(sides, name, figure).median;
}

/** The median over the rounds of one side's figure divided by another's: what disturbs a round disturbs both. */
export function ratioOf(
  sides: readonly SideResult[],
  figure: string,
  { of, to }: { readonly of: string; readonly to: string },
): number {
  const divisors = figureOf(sides, to, figure).values;
  const ratios = figureOf(sides, of, figure).values.map(
    (value, round) => value / (divisors[round] ?? NaN),
  );
  return quantile(ratios, 0.5);
}

function figureOf(sides: readonly SideResult[], name: string, figure: string): Figure {
  const found = sides.find((side) => side.name === name)?.figures[figure];
  if (found === undefined) throw new Error(`The side "${name}" has no figure "${figure}"`);
  return found;
}

/** Whether the wish holds; `undefined` when there is none. */
export function isMet({ value, wanted }: Verdict): boolean | undefined {
  if (wanted === undefined) return undefined;
  return value >= (wanted.atLeast ?? -Infinity) && value <= (wanted.atMost ?? Infinity);
}

/** The value below which the given share of the values lies; `values` need not be sorted. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[index] ?? NaN;
}

function summarize(samples: readonly Sample[]): Readonly<Record<string, Figure>> {
  const names = new Set(samples.flatMap((sample) => Object.keys(sample)));
  const figures: Record<string, Figure> = {};
  for (const name of names) {
    const values = samples.map((sample) => sample[name]).filter((value) => value !== undefined);
    if (values.length === 0) continue;
    const median = quantile(values, 0.5);
    figures[name] = { median, min: Math.min(...values), max: Math.max(...values), values };
  }
  return figures;
}

function describeSample(sample: Sample): string {
  return Object.entries(sample)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${formatNumber(value ?? NaN)}`)
    .join(', ');
}

/** Three digits that count, without more. */
export function formatNumber(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
