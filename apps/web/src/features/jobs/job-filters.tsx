import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queueQueries } from '../../api/queues.ts';
import { Icon } from '../../ui/icon.tsx';
import { CreatedFilter } from './created-filter.tsx';
import classes from './job-filters.module.css';
import { isFiltered } from './job-filter.ts';
import type { JobsSearch, JobsSearchChange } from './jobs-search.ts';

interface JobFiltersProps {
  readonly search: JobsSearch;
  readonly onApply: (change: JobsSearchChange) => void;
  readonly onClear: () => void;
}

/** Queue, type, tag, time and payload. Text fields apply with Enter, or when they are left. */
export function JobFilters({ search, onApply, onClear }: JobFiltersProps) {
  const queues = useQuery({ ...queueQueries.list(), refetchInterval: 30_000 });
  const names = queues.data?.data.map((queue) => queue.name) ?? [];
  const known = search.queue === undefined || names.includes(search.queue);
  return (
    <div className={classes['bar']}>
      <NativeSelect
        aria-label="Queue"
        value={search.queue ?? ''}
        data={[
          { value: '', label: 'Any queue' },
          ...names,
          ...(known || search.queue === undefined ? [] : [search.queue]),
        ]}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onApply({ queue: value === '' ? undefined : value });
        }}
      />
      <TextFilter name="type" label="Type" search={search} onApply={onApply} />
      <TextFilter name="tag" label="Tag" search={search} onApply={onApply} />
      <TextFilter name="text" label="Text in the payload" search={search} onApply={onApply} />
      <CreatedFilter search={search} onApply={onApply} />
      {isFiltered(search) ? (
        <Button
          variant="subtle"
          size="sm"
          leftSection={<Icon name="close" size={13} />}
          onClick={onClear}
        >
          Clear filters
        </Button>
      ) : null}
    </div>
  );
}

interface TextFilterProps {
  readonly name: 'type' | 'tag' | 'text';
  readonly label: string;
  readonly search: JobsSearch;
  readonly onApply: (change: JobsSearchChange) => void;
}

function TextFilter({ name, label, search, onApply }: TextFilterProps) {
  const applied = search[name] ?? '';
  return <TextFilterField key={applied} {...{ name, label, applied, onApply }} />;
}

interface TextFilterFieldProps extends Pick<TextFilterProps, 'name' | 'label' | 'onApply'> {
  readonly applied: string;
}

function TextFilterField({ name, label, applied, onApply }: TextFilterFieldProps) {
  const [text, setText] = useState(applied);
  const apply = () => {
    const wanted = text.trim();
    if (wanted !== applied) onApply({ [name]: wanted === '' ? undefined : wanted });
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      className={classes[name]}
      value={text}
      maxLength={500}
      spellCheck={false}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply();
      }}
      onChange={(event) => {
        setText(event.currentTarget.value);
      }}
    />
  );
}
