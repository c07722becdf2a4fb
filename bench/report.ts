import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Environment } from './environment.ts';
import { formatNumber, isMet } from './measure.ts';
import type { Figure, PartResult, Verdict } from './measure.ts';

/** One whole run. */
export interface Report {
  readonly environment: Environment;
  readonly runCount: number;
  readonly parts: readonly PartResult[];
}

/** The report for people, in Markdown. */
export function describeReport({ environment, parts, runCount }: Report): string {
  return [
    ...describeEnvironment(environment),
    '',
    ...describeVerdicts(parts.flatMap((part) => part.verdicts)),
    '',
    `Median of ${String(runCount)} runs of each side in turn, with minimum and maximum; ratios are the median of the rounds' ratios. CPU is in processor seconds per 100 000 jobs.`,
    ...parts.flatMap((part) => ['', `### ${part.title}`, '', ...describePart(part)]),
    '',
  ].join('\n');
}

/** Keeps the figures of the run and puts its tables into the page. */
export async function keepReport(report: Report): Promise<void> {
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${report.environment.measuredAt.slice(0, 10)}.json`);
  await writeFormatted(file, JSON.stringify(report));
  const page = join(import.meta.dirname, 'README.md');
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split(beginMark);
  const after = rest.split(endMark)[1] ?? '';
  const text = `${before}${beginMark}\n\n${describeReport(report)}\n${endMark}${after}`;
  await writeFormatted(page, text);
  console.log(`\nKept in ${file} and in ${page}`);
}

const beginMark = '<!-- figures: written by npm run bench -->';
const endMark = '<!-- end of figures -->';

async function writeFormatted(file: string, text: string): Promise<void> {
  const options = await resolveConfig(file);
  writeFileSync(file, await format(text, { ...options, filepath: file }));
}

function describeEnvironment(environment: Environment): readonly string[] {
  const { measuredAt, commit, command, node, postgres, system, processors, memoryGb, settings } =
    environment;
  const list = Object.entries(settings).map(([name, value]) => `\`${name} = ${value}\``);
  return [
    `Measured ${measuredAt.slice(0, 16).replace('T', ' ')} UTC at commit ${commit} by \`${command}\`: PostgreSQL ${postgres}, Node ${node}, ${system}, ${processors}, ${String(memoryGb)} GB.`,
    `Server: ${list.join(', ')}.`,
  ];
}

function describeVerdicts(verdicts: readonly Verdict[]): readonly string[] {
  const rows = verdicts.map((verdict) => [
    verdict.what,
    `**${formatNumber(verdict.value)} ${verdict.unit}**`,
    describeWish(verdict),
    { true: 'yes', false: 'no', undefined: '' }[String(isMet(verdict))] ?? '',
  ]);
  return table(['What', 'Result', 'Expected', 'Met'], rows);
}

function describeWish({ wanted, unit }: Verdict): string {
  if (wanted?.atLeast !== undefined) return `≥ ${formatNumber(wanted.atLeast)} ${unit}`;
  if (wanted?.atMost !== undefined) return `≤ ${formatNumber(wanted.atMost)} ${unit}`;
  return '';
}

function describePart({ sides }: PartResult): readonly string[] {
  const names = [...new Set(sides.flatMap(({ figures }) => Object.keys(figures)))];
  const rows = sides.map(({ name, figures }) => [
    name,
    ...names.map((figure) => describeFigure(figures[figure])),
  ]);
  return table(['', ...names], rows);
}

function describeFigure(figure: Figure | undefined): string {
  if (figure === undefined) return '–';
  if (figure.values.length === 1) return formatNumber(figure.median);
  const { median, min, max } = figure;
  return `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
