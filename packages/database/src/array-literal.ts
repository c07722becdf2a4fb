/**
 * Writes values as a PostgreSQL array literal. The driver's own array code costs several times more per element, and
 * a bulk insert has hundreds of thousands of them.
 *
 * Only for values without quotes, commas, braces, backslashes or spaces: numbers, uuids, timestamps in ISO form.
 */
export function plainArray(values: readonly (string | number | undefined)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += String(values[index] ?? 'NULL');
  }
  return text + '}';
}

const special = /["\\]/g;
const escapedByJson = /[\u0000-\u001f\ud800-\udfff]/;

/** A JSON string is quoted as an array's element is, save for these characters, and the runtime writes it much faster. */
function quoted(value: string): string {
  return escapedByJson.test(value) ? `"${value.replace(special, '\\$&')}"` : JSON.stringify(value);
}

/** As {@link plainArray}, for any text: each element is quoted and escaped. */
export function textArray(values: readonly (string | undefined)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    const value = values[index];
    text += value === undefined ? 'NULL' : quoted(value);
  }
  return text + '}';
}
