import { isLonger, isRecord, isStorableText, jobLimits } from '@holdfast/domain';
import type { JobInfo } from '@holdfast/worker';
import type { JobDraft } from '../job-draft.ts';

/** What a propagator writes, such as `traceparent`, by its fields. */
export type TraceCarrier = Readonly<Record<string, string>>;

type Metadata = Readonly<Record<string, unknown>>;

/** Where the carrier travels in a job's metadata, which every status, retry and replay keeps. */
const metadataKey = 'holdfast.trace';

/** What is left behind first where the metadata would become too large. Without `traceparent` the rest says nothing. */
const leastImportant = [[], ['baggage'], ['baggage', 'tracestate']];

/** The drafts with the carrier in their metadata; as much of it as the limit of the metadata has room for. */
export function putCarrier(
  drafts: readonly JobDraft[],
  carrier: TraceCarrier,
): readonly JobDraft[] {
  if (Object.keys(carrier).length === 0) return drafts;
  const carriers = leastImportant.map((left) => without(carrier, left));
  const alone = metadataWith({}, carriers);
  return drafts.map((draft) => {
    const { metadata } = draft.options;
    const changed = metadata === undefined ? alone : metadataWith(metadata, carriers);
    if (changed === undefined) return draft;
    return { ...draft, options: { ...draft.options, metadata: changed } };
  });
}

/** Takes the carrier out of the metadata of a job that is about to run, so that its handler sees only what is its own. */
export function takeCarrier({ metadata }: JobInfo): TraceCarrier {
  if (!isRecord(metadata)) return {};
  const found = metadata[metadataKey];
  // This execution's own copy.
  Reflect.deleteProperty(metadata, metadataKey);
  if (!isRecord(found)) return {};
  // Jobs that come over HTTP bring what they like.
  return Object.fromEntries(Object.entries(found).filter(isField));
}

/** Whether PostgreSQL can store the field as JSON. */
export function isStorable(name: string, value: string): boolean {
  return name !== '__proto__' && isStorableText(name + value);
}

function metadataWith(metadata: Metadata, carriers: readonly TraceCarrier[]): Metadata | undefined {
  // As it will be stored: it may convert itself by a toJSON.
  const own: unknown = JSON.parse(JSON.stringify(metadata));
  if (!isRecord(own)) return undefined;
  return carriers
    .map((carrier) => ({ ...own, [metadataKey]: carrier }))
    .find((changed) => !isLonger(JSON.stringify(changed), jobLimits.metadataBytes));
}

function without(carrier: TraceCarrier, names: readonly string[]): TraceCarrier {
  return Object.fromEntries(Object.entries(carrier).filter(([name]) => !names.includes(name)));
}

function isField(entry: readonly [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}
