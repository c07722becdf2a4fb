import { describe, expect, it } from 'vitest';
import { cutAtPlaceholders } from '../../src/adapters/placeholders.ts';

describe('cutting a statement at its placeholders', () => {
  it('gives the texts in between and the index of each value', () => {
    expect(cutAtPlaceholders('select $2::text, $1::text::uuid, $2::text')).toEqual({
      texts: ['select ', '::text, ', '::text::uuid, ', '::text'],
      valueIndexes: [1, 0, 1],
    });
  });

  it('leaves a statement without placeholders whole', () => {
    expect(cutAtPlaceholders('select 1')).toEqual({ texts: ['select 1'], valueIndexes: [] });
  });

  it('reads numbers of more than one digit', () => {
    expect(cutAtPlaceholders('$12').valueIndexes).toEqual([11]);
  });

  it.each([
    ["'it''s $1'", 'text'],
    [String.raw`E'it\'s $1'`, 'text with backslash escapes'],
    [String.raw`'C:\'`, 'text that ends with a backslash'],
    ['"a ""name"" $1"', 'a quoted name'],
    ['-- a comment $1', 'a comment to the end of the line'],
    ['/* a\ncomment $1 */', 'a comment of several lines'],
    ['$$text $1$$', 'text between dollars'],
    ['$tag$text $1 $$ $tag$', 'text between tagged dollars'],
    ['name$1', 'a name with a dollar'],
  ])('sees no placeholder in %s: %s', (text) => {
    expect(cutAtPlaceholders(`select ${text}\n, $1`)).toEqual({
      texts: [`select ${text}\n, `, ''],
      valueIndexes: [0],
    });
  });
});
