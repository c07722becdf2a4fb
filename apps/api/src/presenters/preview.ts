import type { PreviewInstant } from '@holdfast/contract';
import { offsetAt } from '@holdfast/domain';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** A coming instant as a clock in its zone shows it. */
export function presentPreview(at: Date, timezone: string): PreviewInstant {
  const offsetMs = offsetAt(at.getTime(), timezone);
  return {
    at: at.toISOString(),
    local: new Date(at.getTime() + offsetMs).toISOString().slice(0, 19),
    offset: presentOffset(offsetMs),
    dstChange: offsetMs !== offsetAt(at.getTime() - dayMs, timezone),
  };
}

function presentOffset(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / minuteMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
