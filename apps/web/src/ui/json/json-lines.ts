/** One line of a JSON value as it is shown. Everything in it is text; nothing is markup. */
export interface JsonLine {
  /** Where the value is: a JSON pointer, unique within the document. */
  readonly path: string;
  readonly depth: number;
  /** The property's name, or the index in an array; undefined at the root and on closing lines. */
  readonly key: string | undefined;
  readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'open' | 'closed' | 'end' | 'more';
  readonly text: string;
}

/** How many entries of one array or object are listed before the rest is only counted. */
const listedEntries = 200;

/** How much of one string is shown before it is cut. */
const shownCharacters = 2_000;

/**
 * Writes a JSON value as lines. Objects and arrays whose path is in `collapsed` take one line, so that a big document
 * costs only what is visible.
 */
export function jsonLines(value: unknown, collapsed: ReadonlySet<string>): JsonLine[] {
  const lines: JsonLine[] = [];
  write({ value, path: '', depth: 0, key: undefined }, { collapsed, lines });
  return lines;
}

interface Node {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  readonly key: string | undefined;
}

interface Output {
  readonly collapsed: ReadonlySet<string>;
  readonly lines: JsonLine[];
}

function write(node: Node, output: Output): void {
  const { value, path, depth, key } = node;
  if (typeof value !== 'object' || value === null) {
    output.lines.push({ path, depth, key, ...scalar(value) });
    return;
  }
  const isArray = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, close] = isArray ? (['[', ']'] as const) : (['{', '}'] as const);
  if (entries.length === 0) {
    output.lines.push({ path, depth, key, kind: 'end', text: `${open}${close}` });
    return;
  }
  if (output.collapsed.has(path)) {
    const text = `${open} ${String(entries.length)} ${isArray ? 'items' : 'keys'} ${close}`;
    output.lines.push({ path, depth, key, kind: 'closed', text });
    return;
  }
  output.lines.push({ path, depth, key, kind: 'open', text: open });
  for (const [name, child] of entries.slice(0, listedEntries)) {
    write({ value: child, path: childPath(path, name), depth: depth + 1, key: name }, output);
  }
  const rest = entries.length - listedEntries;
  if (rest > 0) {
    const text = `… ${String(rest)} more`;
    output.lines.push({
      path: `${path}~more`,
      depth: depth + 1,
      key: undefined,
      kind: 'more',
      text,
    });
  }
  output.lines.push({ path: `${path}~end`, depth, key: undefined, kind: 'end', text: close });
}

// As in a JSON pointer; so that `~end` and `~more` can be no property's path.
function childPath(path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function scalar(value: unknown): Pick<JsonLine, 'kind' | 'text'> {
  if (typeof value === 'string') return { kind: 'string', text: JSON.stringify(cut(value)) };
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  if (typeof value === 'boolean') return { kind: 'boolean', text: String(value) };
  return { kind: 'null', text: 'null' };
}

function cut(text: string): string {
  if (text.length <= shownCharacters) return text;
  return `${text.slice(0, shownCharacters)}… (${String(text.length)} characters)`;
}

/** The paths of objects and arrays that start collapsed: those which are deep, or inside something long. */
export function initiallyCollapsed(value: unknown): ReadonlySet<string> {
  const collapsed = new Set<string>();
  collect({ value, path: '', depth: 0, key: undefined }, collapsed);
  return collapsed;
}

const openDepth = 3;
const openEntries = 50;

function collect({ value, path, depth }: Node, collapsed: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  if (depth >= openDepth || (depth > 0 && entries.length > openEntries)) {
    collapsed.add(path);
    return;
  }
  for (const [name, child] of entries.slice(0, listedEntries)) {
    collect({ value: child, path: childPath(path, name), depth: depth + 1, key: name }, collapsed);
  }
}
