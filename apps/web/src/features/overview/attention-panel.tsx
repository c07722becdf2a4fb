import type { Overview } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import { plural } from '../../format/number.ts';
import { Icon } from '../../ui/icon.tsx';
import type { IconName } from '../../ui/icon-paths.ts';
import classes from './attention-panel.module.css';

type Attention = Overview['attention'][number];

interface AttentionLook {
  readonly icon: IconName;
  readonly tone: 'bad' | 'warn';
  readonly sentence: (item: Attention) => string;
  readonly target: (item: Attention) => Pick<LinkProps, 'to' | 'search'>;
}

function placeOf(subject: string | null): string {
  return subject === null ? '' : ` in ${subject}`;
}

/** The type, and the version of the payload where that is not 1: what a worker has to know. */
function describeClaimName(name: string): string {
  const [type = '', version] = name.split('@');
  return version === undefined ? `jobs of ${type}` : `version ${version} of ${type}`;
}

function typeOf(name: string): string {
  return name.split('@')[0] ?? '';
}

function queueSearch(subject: string | null) {
  return subject === null ? {} : { queue: subject };
}

const looks: Record<Attention['kind'], AttentionLook> = {
  dead_letters: {
    icon: 'deadLetters',
    tone: 'bad',
    sentence: ({ subject, count }) => `${plural(count, 'dead letter')}${placeOf(subject)}`,
    target: ({ subject }) => ({ to: '/dead-letters', search: queueSearch(subject) }),
  },
  failed_jobs: {
    icon: 'warning',
    tone: 'warn',
    sentence: ({ subject, count }) =>
      `${plural(count, 'failed job')} to decide on${placeOf(subject)}`,
    target: ({ subject }) => ({
      to: '/jobs',
      search: { status: ['failed'], ...queueSearch(subject) },
    }),
  },
  queue_paused: {
    icon: 'pause',
    tone: 'warn',
    sentence: ({ subject }) => `Queue ${subject ?? ''} is paused`,
    target: () => ({ to: '/queues' }),
  },
  no_worker_for_queue: {
    icon: 'workers',
    tone: 'bad',
    sentence: ({ subject, count }) => `No worker takes ${plural(count, 'job')} of ${subject ?? ''}`,
    target: () => ({ to: '/workers' }),
  },
  no_worker_for_job: {
    icon: 'workers',
    tone: 'bad',
    sentence: ({ subject }) => `No worker takes ${describeClaimName(subject ?? '')}`,
    target: ({ subject }) => ({
      to: '/jobs',
      search: { status: ['queued'], type: typeOf(subject ?? '') },
    }),
  },
  missed_fires: {
    icon: 'schedules',
    tone: 'warn',
    sentence: ({ subject, count }) => `${subject ?? 'A schedule'} missed ${plural(count, 'fire')}`,
    target: () => ({ to: '/schedules' }),
  },
  worker_lost: {
    icon: 'workers',
    tone: 'warn',
    sentence: ({ count }) => `${plural(count, 'worker')} lost in the last hour`,
    target: () => ({ to: '/workers' }),
  },
  database_not_durable: {
    icon: 'warning',
    tone: 'bad',
    sentence: () => 'The database may lose acknowledged jobs',
    target: () => ({ to: '/settings' }),
  },
};

// Workers are told apart by ids that say nothing to a reader: one line for all of them.
function mergedByKind(attention: readonly Attention[]): readonly Attention[] {
  const lost = attention.filter(({ kind }) => kind === 'worker_lost');
  const others = attention.filter(({ kind }) => kind !== 'worker_lost');
  if (lost.length === 0) return others;
  const count = lost.reduce((sum, item) => sum + item.count, 0);
  return [...others, { kind: 'worker_lost', subject: null, count }];
}

function worstFirst(attention: readonly Attention[]): readonly Attention[] {
  const isBad = ({ kind }: Attention) => looks[kind].tone === 'bad';
  return [...attention.filter(isBad), ...attention.filter((item) => !isBad(item))];
}

/** What needs a person, each with a way to it. */
export function AttentionPanel({ attention }: { readonly attention: readonly Attention[] }) {
  if (attention.length === 0) {
    return (
      <p className={classes['calm']}>
        <Icon name="check" size={15} /> Nothing needs you.
      </p>
    );
  }
  return (
    <section aria-label="What needs you" className={classes['list']}>
      {worstFirst(mergedByKind(attention)).map((item) => (
        <AttentionItem key={`${item.kind} ${item.subject ?? ''}`} item={item} />
      ))}
    </section>
  );
}

function AttentionItem({ item }: { readonly item: Attention }) {
  const look = looks[item.kind];
  return (
    <Link {...look.target(item)} className={classes['item']} data-tone={look.tone}>
      <Icon name={look.icon} size={16} />
      <span>{look.sentence(item)}</span>
      <Icon name="chevronRight" size={14} />
    </Link>
  );
}
