import type { ReactNode } from 'react';
import classes from './badge.module.css';
import { Icon } from './icon.tsx';
import type { IconName } from './icon-paths.ts';
import type { Tone } from './tone.ts';

interface BadgeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly children: ReactNode;
  /** Why it is so, shown on hover. */
  readonly title?: string;
}

/** A small word on a tint. The word (and the icon) carries the meaning; the colour only repeats it. */
export function Badge({ tone, icon, children, title }: BadgeProps) {
  return (
    <span className={classes['badge']} data-tone={tone} title={title}>
      {icon === undefined ? null : <Icon name={icon} size={12} />}
      <span>{children}</span>
    </span>
  );
}
