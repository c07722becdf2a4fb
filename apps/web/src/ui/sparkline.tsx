import classes from './sparkline.module.css';

interface SparklineProps {
  /** Values oldest first. */
  readonly values: readonly number[];
  /** What it shows, for screen readers. */
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
}

/** A tiny line without axes. The highest value touches the top; all zeros lie on the ground. */
export function Sparkline({ values, label, width = 88, height = 22 }: SparklineProps) {
  const highest = Math.max(1, ...values);
  const stepX = values.length < 2 ? 0 : (width - 2) / (values.length - 1);
  const points = values
    .map((value, index) => {
      const x = 1 + index * stepX;
      const y = height - 2 - (value / highest) * (height - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
  return (
    <svg
      className={classes['sparkline']}
      width={width}
      height={height}
      viewBox={`0 0 ${String(width)} ${String(height)}`}
      role="img"
      aria-label={label}
    >
      <polyline points={points} />
    </svg>
  );
}
