import { PayloadInvalidError } from '@holdfast/domain';
import type { StandardSchema } from './standard-schema.ts';
import { shown } from './shown.ts';
import { validatePayload } from './validate-payload.ts';

/** Takes a payload of one version, as it is stored, to the next version. Runs before each attempt: it must have no effects. */
export type PayloadUpgrade<Next = unknown> = {
  // A method, so that its parameter may say what the older version was.
  upgrade(payload: unknown): Next | PromiseLike<Next>;
}['upgrade'];

/**
 * Upgrades by the version that they begin with. The one from the version before the newest gives what the schema takes;
 * what those before it give, only the next one knows.
 *
 * @typeParam Version the newest version
 * @typeParam Input what the schema takes
 */
export type PayloadUpgrades<Version extends number, Input> = Readonly<
  Record<number, PayloadUpgrade>
> &
  (number extends Version
    ? unknown
    : { readonly [Before in VersionBefore<Version>]?: PayloadUpgrade<Input> });

/** The whole number before a literal one; `number` where only that is known. */
export type VersionBefore<Version extends number> = number extends Version
  ? number
  : WithoutZero<Decrement<`${Version}`>> extends `${infer Before extends number}`
    ? Before
    : number;

interface LowerDigits {
  1: '0';
  2: '1';
  3: '2';
  4: '3';
  5: '4';
  6: '5';
  7: '6';
  8: '7';
  9: '8';
}
type Decrement<
  Digits extends string,
  Head extends string = '',
> = Digits extends `${infer First}${infer Rest}`
  ? Rest extends ''
    ? First extends `${infer Digit extends keyof LowerDigits}`
      ? `${Head}${LowerDigits[Digit]}`
      : `${Decrement<Head>}9`
    : Decrement<Rest, `${Head}${First}`>
  : never;
type WithoutZero<Digits extends string> = Digits extends `0${infer Rest}`
  ? Rest extends ''
    ? Digits
    : Rest
  : Digits;

/** What is known of a type's payloads. */
export interface PayloadContract {
  readonly type: string;
  readonly schema: StandardSchema | undefined;
  /** Of the payloads that the schema describes. */
  readonly version: number;
  readonly upgrades: Readonly<Record<number, PayloadUpgrade>>;
}

/** The versions that are taken, the newest first. */
export function versionsOf({
  version,
  upgrades,
}: Pick<PayloadContract, 'version' | 'upgrades'>): readonly number[] {
  return [version, ...Object.keys(upgrades).map(Number).reverse()];
}

/** Whether a payload has to be looked at before a handler may have it. */
export function isPlain({ schema, upgrades }: PayloadContract): boolean {
  return schema === undefined && Object.keys(upgrades).length === 0;
}

/**
 * A stored payload as the handler gets it: upgraded, then checked.
 *
 * @param stored its version
 * @throws PayloadInvalidError, also when an upgrade throws
 */
export async function readPayload(
  contract: PayloadContract,
  payload: unknown,
  stored: number,
): Promise<unknown> {
  const { type, schema } = contract;
  const upgraded = await upgradePayload(contract, payload, stored);
  return schema === undefined ? upgraded : validatePayload({ type, schema }, upgraded);
}

/**
 * A stored payload in the newest version, unchecked.
 *
 * @throws PayloadInvalidError when an upgrade throws or there is none
 */
export async function upgradePayload(
  { type, version, upgrades }: Omit<PayloadContract, 'schema'>,
  payload: unknown,
  stored: number,
): Promise<unknown> {
  let upgraded = payload;
  for (let from = stored; from !== version; from += 1) {
    const upgrade = upgrades[from];
    if (upgrade === undefined) {
      throw invalid(type, `its version is ${String(from)}, of which nothing is known here`);
    }
    try {
      upgraded = await upgrade(upgraded);
    } catch (error) {
      const message = `its upgrade from version ${String(from)} failed: ${reasonOf(error)}`;
      throw causedBy(error, invalid(type, message));
    }
  }
  return upgraded;
}

/** With the frames of what an upgrade threw, which lead into the application: its own would lead here. */
function causedBy(cause: unknown, error: PayloadInvalidError): PayloadInvalidError {
  error.cause = cause;
  const stack = cause instanceof Error && typeof cause.stack === 'string' ? cause.stack : '';
  const begin = stack.indexOf('\n    at ');
  if (begin >= 0) error.stack = `${String(error)}${stack.slice(begin)}`;
  return error;
}

function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : shown(error);
}

function invalid(type: string, message: string): PayloadInvalidError {
  return new PayloadInvalidError(type, [{ pointer: '', message }]);
}
