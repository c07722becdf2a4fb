// Prints instants around clock changes; run under several values of TZ, whose output must not differ.
import { nextFires, parseCron } from '@holdfast/domain';

const rules = [
  ['*/30 * * * *', 'UTC', '2025-10-26T00:00:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2025-10-25T00:00:00Z'],
  ['30 2 * * *', 'America/Los_Angeles', '2025-03-08T00:00:00Z'],
  ['*/20 1 * * *', 'Australia/Lord_Howe', '2025-04-04T00:00:00Z'],
  ['0 0 * * 1#1', 'Australia/Sydney', '2025-09-01T00:00:00Z'],
] as const;

for (const [text, zone, from] of rules) {
  const found = nextFires(parseCron(text, zone), { after: new Date(from), count: 12 });
  console.log(text, zone, found.map((fire) => fire.toISOString()).join(' '));
}
