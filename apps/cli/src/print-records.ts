/** Prints each record as one line of JSON on standard output, for people and for `jq` alike. */
export function printRecords(records: readonly object[]): void {
  for (const record of records) process.stdout.write(`${JSON.stringify(record)}\n`);
}
