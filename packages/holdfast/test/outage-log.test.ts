import { expect, it } from 'vitest';
import { OutageLog } from '../src/outage-log.ts';

function start() {
  const lines: (readonly [string, unknown])[] = [];
  const clock = { nowMs: 5_000 };
  const note = (fields: object, message: string): void => {
    lines.push([message, 'outageMs' in fields ? fields.outageMs : undefined]);
  };
  const logger = { debug: note, info: note, warn: note, error: note };
  return { lines, clock, log: new OutageLog(logger, () => clock.nowMs) };
}

const away = 'the database does not answer, waiting for it';
const back = 'the database answers again';

it('tells of an outage of a minute at once, at doubling intervals, and at its end', () => {
  const { lines, clock, log } = start();
  for (let second = 0; second < 60; second += 1) {
    log.failed(new Error('gone'));
    clock.nowMs += 1_000;
  }
  log.answered();
  const seconds = [0, 1, 3, 7, 15, 31];
  expect(lines).toEqual([...seconds.map((second) => [away, second * 1_000]), [back, 60_000]]);
});

it('tells of the next outage as of the first', () => {
  const { lines, log } = start();
  log.answered();
  for (let round = 0; round < 2; round += 1) {
    log.failed(new Error('gone'));
    log.failed(new Error('gone'));
    log.answered();
    log.answered();
  }
  expect(lines.map(([message]) => message)).toEqual([away, back, away, back]);
});
