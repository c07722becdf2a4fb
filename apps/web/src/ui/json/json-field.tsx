import { Textarea } from '@mantine/core';
import { parseJson } from './parse-json.ts';
import classes from './json-field.module.css';

interface JsonFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly rows?: number;
}

/** A field for JSON, which says at once what is wrong with it. */
export function JsonField({ label, description, value, onChange, rows = 8 }: JsonFieldProps) {
  const parsed = parseJson(value);
  return (
    <Textarea
      label={label}
      description={description}
      value={value}
      rows={rows}
      spellCheck={false}
      autoComplete="off"
      classNames={{ input: classes['input'] ?? '' }}
      error={parsed.ok ? undefined : parsed.message}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}
