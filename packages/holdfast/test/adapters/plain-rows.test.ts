import { describe, expect, it } from 'vitest';
import { plainRows } from '../../src/adapters/plain-rows.ts';

describe('the names of columns', () => {
  it.each(['queue_id', 'queueId', 'QueueId', 'queue-id'])('are given back to %s', (name) => {
    expect(plainRows([{ [name]: '1' }])).toEqual([{ queue_id: '1' }]);
  });
});
