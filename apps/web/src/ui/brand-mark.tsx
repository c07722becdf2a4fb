import classes from './brand-mark.module.css';

/** The mark: a stem held by its roots. */
export function BrandMark({ size = 24 }: { readonly size?: number }) {
  return (
    <svg
      className={classes['mark']}
      width={size}
      height={size}
      viewBox="0 0 32 32"
      aria-hidden="true"
      focusable="false"
    >
      <rect width="32" height="32" rx="8" />
      <path d="M16 6v20M16 19c0 4-4.500 3.200-6.500 7M16 19c0 4 4.500 3.200 6.500 7M16 13c-3.500 0-5.500-1.600-6-4.500M16 10.500c3 0 4.800-1 5.500-3.500" />
    </svg>
  );
}
