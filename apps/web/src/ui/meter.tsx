import classes from './meter.module.css';

interface MeterProps {
  readonly value: number;
  readonly max: number;
  readonly label: string;
}

/** How much of something is in use. */
export function Meter({ value, max, label }: MeterProps) {
  const share = max <= 0 ? 0 : Math.min(1, value / max);
  return (
    <div
      className={classes['meter']}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
    >
      <div className={classes['fill']} style={{ width: `${String(share * 100)}%` }} />
    </div>
  );
}
