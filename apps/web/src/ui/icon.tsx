import { iconPaths } from './icon-paths.ts';
import type { IconName } from './icon-paths.ts';
import classes from './icon.module.css';

interface IconProps {
  readonly name: IconName;
  /** Width and height in pixels, 16 by default. */
  readonly size?: number;
}

/** A decorative icon: hidden from screen readers, so that words beside it (or an `aria-label`) must say the meaning. */
export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg
      className={classes['icon']}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      aria-hidden="true"
      focusable="false"
    >
      <path d={iconPaths[name]} />
    </svg>
  );
}
