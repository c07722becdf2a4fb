const plainFormat = new Intl.NumberFormat('en');
const compactFormat = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
});

/** A count with separators, and from a hundred thousand in short form: `12,345`, `1.2M`. */
export function formatCount(count: number): string {
  return Math.abs(count) < 100_000 ? plainFormat.format(count) : compactFormat.format(count);
}

/** A rate with few digits: `0`, `0.4`, `12`, `1,204`. */
export function formatRate(perMinute: number): string {
  if (perMinute === 0) return '0';
  return perMinute < 10 ? perMinute.toFixed(1) : formatCount(Math.round(perMinute));
}

/** A share from 0 to 1 as per cent: `0 %`, `0.3 %`, `12 %`. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0 || percent >= 10) return `${String(Math.round(percent))} %`;
  return `${percent.toFixed(1)} %`;
}

/** Bytes in binary units: `812 B`, `3.4 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** step;
  const digits = step === 0 || amount >= 100 ? 0 : 1;
  return `${amount.toFixed(digits)} ${units[step] ?? 'B'}`;
}

/** `1 job`, `2 jobs`. The plural is the singular with an s unless it is given. */
export function plural(count: number, singular: string, many = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : many}`;
}
