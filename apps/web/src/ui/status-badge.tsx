import type { JobStatus } from '@holdfast/domain';
import { Badge } from './badge.tsx';
import { executionLook, jobStatusLook } from './status-look.ts';
import type { ExecutionLookName } from './status-look.ts';

/** A job's status as a badge. */
export function StatusBadge({ status }: { readonly status: JobStatus }) {
  const look = jobStatusLook[status];
  return (
    <Badge tone={look.tone} icon={look.icon} title={look.meaning}>
      {look.label}
    </Badge>
  );
}

/** An execution's standing as a badge. */
export function ExecutionBadge({ name }: { readonly name: ExecutionLookName }) {
  const look = executionLook[name];
  return (
    <Badge tone={look.tone} icon={look.icon} title={look.meaning}>
      {look.label}
    </Badge>
  );
}
