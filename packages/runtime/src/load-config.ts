import { readFileSync } from 'node:fs';
import { ConfigError } from '@holdfast/domain';
import type { z } from 'zod';
import type { Environment } from './environment.ts';

interface ConfigProblem {
  readonly variable: string;
  /** Never repeats the value, which may be a secret. */
  readonly message: string;
}

/**
 * Reads the variables that the schema names and checks them all.
 *
 * A variable that is empty counts as not set. `NAME_FILE` gives the path of a file that holds the
 * value of `NAME`, as container secrets do; setting both is an error.
 *
 * @param schema an object whose keys are variable names
 * @throws ConfigError with every problem, by variable name and without values
 */
export function loadConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Environment,
): Readonly<z.output<z.ZodObject<Shape>>> {
  const problems: ConfigProblem[] = [];
  const values: Record<string, string> = {};
  for (const variable of Object.keys(schema.shape)) {
    const value = readVariable(variable, env, problems);
    if (value !== undefined) values[variable] = value;
  }
  const unreadable = new Set(problems.map((problem) => problem.variable));
  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues.map(problemOf).filter(({ variable }) => !unreadable.has(variable)),
    );
  }
  if (!parsed.success || problems.length > 0) throw configError(problems);
  return Object.freeze(parsed.data);
}

function readVariable(
  variable: string,
  env: Environment,
  problems: ConfigProblem[],
): string | undefined {
  const value = presence(env[variable]);
  const file = presence(env[`${variable}_FILE`]);
  if (file === undefined) return value;
  if (value !== undefined) {
    problems.push({ variable, message: `set either ${variable} or ${variable}_FILE, not both` });
    return undefined;
  }
  try {
    return presence(readFileSync(file, 'utf8').trim());
  } catch {
    problems.push({ variable, message: `the file named by ${variable}_FILE cannot be read` });
    return undefined;
  }
}

function presence(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

function problemOf(issue: z.core.$ZodIssue): ConfigProblem {
  const variable = issue.path.length === 0 ? 'configuration' : String(issue.path[0]);
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  return { variable, message: isMissing ? 'is required' : issue.message };
}

function configError(problems: readonly ConfigProblem[]): ConfigError {
  const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
  return new ConfigError(`The configuration is invalid:\n${lines.join('\n')}`);
}
