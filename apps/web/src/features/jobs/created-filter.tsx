import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { createdSpans } from './jobs-search.ts';
import type { JobsSearch, JobsSearchChange } from './jobs-search.ts';

interface CreatedFilterProps {
  readonly search: JobsSearch;
  readonly onApply: (change: JobsSearchChange) => void;
}

const labels: Record<(typeof createdSpans)[number], string> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};

function localValue(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  // `datetime-local` fields speak the viewer's own time, without a zone.
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** When jobs were created: a span up to now, or two bounds. */
export function CreatedFilter({ search, onApply }: CreatedFilterProps) {
  const bounded = search.after !== undefined || search.before !== undefined;
  const [custom, setCustom] = useState(bounded);
  const value = custom ? 'custom' : (search.since ?? '');
  return (
    <>
      <NativeSelect
        aria-label="Created"
        value={value}
        data={[
          { value: '', label: 'Created any time' },
          ...createdSpans.map((span) => ({ value: span, label: labels[span] })),
          { value: 'custom', label: 'Between…' },
        ]}
        onChange={(event) => {
          const chosen = createdSpans.find((span) => span === event.currentTarget.value);
          const wantsCustom = event.currentTarget.value === 'custom';
          setCustom(wantsCustom);
          if (!wantsCustom) onApply({ since: chosen, after: undefined, before: undefined });
        }}
      />
      {custom ? (
        <>
          <BoundField name="after" label="Created after" search={search} onApply={onApply} />
          <BoundField name="before" label="Created before" search={search} onApply={onApply} />
        </>
      ) : null}
    </>
  );
}

interface BoundFieldProps extends CreatedFilterProps {
  readonly name: 'after' | 'before';
  readonly label: string;
}

function BoundField({ name, label, search, onApply }: BoundFieldProps) {
  return (
    <TextInput
      type="datetime-local"
      aria-label={label}
      title={label}
      defaultValue={localValue(search[name])}
      onBlur={(event) => {
        const { value } = event.currentTarget;
        if (value === localValue(search[name])) return;
        const at = value === '' ? undefined : new Date(value).toISOString();
        onApply({ since: undefined, [name]: at });
      }}
    />
  );
}
