import { useMemo, useState } from 'react';
import { CopyButton } from '../copy-button.tsx';
import { initiallyCollapsed, jsonLines } from './json-lines.ts';
import type { JsonLine } from './json-lines.ts';
import classes from './json-view.module.css';

interface JsonViewProps {
  readonly value: unknown;
  /** What it is, for screen readers and the copy button: "payload". */
  readonly label: string;
}

/** A JSON value as a tree whose branches open and close. */
export function JsonView({ value, label }: JsonViewProps) {
  // Keyed by content: polling brings an equal value as another object, which must not fold what a reader opened.
  const text = JSON.stringify(value, undefined, 2);
  return <JsonTree key={text} value={value} text={text} label={label} />;
}

interface JsonTreeProps extends JsonViewProps {
  readonly text: string;
}

function JsonTree({ value, text, label }: JsonTreeProps) {
  const [collapsed, setCollapsed] = useState(() => initiallyCollapsed(value));
  const lines = useMemo(() => jsonLines(value, collapsed), [value, collapsed]);
  const toggle = (path: string) => {
    const next = new Set(collapsed);
    if (!next.delete(path)) next.add(path);
    setCollapsed(next);
  };
  return (
    <div className={classes['box']}>
      <div className={classes['copy']}>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <div className={classes['scroller']} tabIndex={0} role="region" aria-label={label}>
        {lines.map((line) => (
          <Line key={line.path} line={line} onToggle={toggle} />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  readonly line: JsonLine;
  readonly onToggle: (path: string) => void;
}

function Line({ line, onToggle }: LineProps) {
  const folds = line.kind === 'open' || line.kind === 'closed';
  return (
    <div
      className={classes['line']}
      style={{ paddingInlineStart: `${String(line.depth * 1.4)}em` }}
    >
      {folds ? (
        <button
          type="button"
          className={classes['fold']}
          aria-expanded={line.kind === 'open'}
          aria-label={`${line.key ?? 'All'}: ${line.kind === 'open' ? 'close' : 'open'}`}
          onClick={() => {
            onToggle(line.path);
          }}
        >
          {line.kind === 'open' ? '▾' : '▸'}
        </button>
      ) : (
        <span className={classes['fold']} />
      )}
      {line.key === undefined ? null : <span className={classes['key']}>{line.key}: </span>}
      <span className={classes['value']} data-kind={line.kind}>
        {line.text}
      </span>
    </div>
  );
}
