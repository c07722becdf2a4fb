/** JSON that was typed: its value, or why it is none. Nothing typed is `undefined`. */
export type ParsedJson =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** Reads what a person typed as JSON. */
export function parseJson(text: string): ParsedJson {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'cannot be read';
    return { ok: false, message: `This is not JSON: ${why}` };
  }
}
