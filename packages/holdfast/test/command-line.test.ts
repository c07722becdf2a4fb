import { join } from 'node:path';
import { spawnProcess } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../dist/bin/holdfast.js');

async function command(...args: readonly string[]): Promise<string> {
  const started = spawnProcess({ script, args, env: {} });
  const { code } = await started.exited;
  return `exit ${String(code)}\n${started.output()}`;
}

describe('the command of the package', () => {
  it('says its version', async () => {
    expect(await command('--version')).toMatch(/^exit 0\n\d+\.\d+\.\d+\n$/);
  });

  it('says how it is used, when asked and when it is told nothing', async () => {
    expect(await command('--help')).toMatch(/^exit 0\nUsage: holdfast migrate/);
    expect(await command()).toMatch(/^exit 2\nUsage: holdfast migrate/);
  });

  it.each([
    [['doctor'], 'unknown command "doctor"; there is: migrate, contracts check'],
    [['doctor', '--json'], 'unknown command "doctor"; there is: migrate, contracts check'],
    [['migrate', 'now'], 'migrate takes no argument "now"'],
    [['contracts'], 'unknown command "contracts"; there is: migrate, contracts check'],
    [['contracts', 'list'], 'unknown command "contracts list"; there is: migrate, contracts check'],
    [['migrate', '--strict'], 'migrate takes no option --strict'],
    [['migrate', '--now'], "Unknown option '--now'"],
  ])('refuses %j and says what is wrong', async (args, problem) => {
    const said = await command(...args);
    expect(said).toContain(`exit 2\nerror: ${problem}`);
    expect(said).toContain('Usage: holdfast migrate');
  });
});
