import type { Check } from '../../model/check.ts';
import type { OwnVariable } from '../../model/variable.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { invalid, ServiceError } from '../errors.ts';
import type { CheckKey } from '../store/checks.ts';
import { bodyProblem } from './input-problems.ts';
import { opened, sealedAgain, unreadableSecrets } from './secret-store.ts';

export interface CheckVariablesParts {
  readonly log: Logger;
  /** null: no secret value can be stored. */
  readonly secrets: SecretBox | null;
}

/** What of a check is stored, and where: the values of its secret variables are apart. */
export interface SealedCheck {
  /** With an empty text in the place of each. */
  readonly check: Check;
  /** Those values; null where there are none, undefined where those that are stored stay. */
  readonly sealedVariables: Buffer | null | undefined;
}

export interface VariablesChange {
  readonly before: Check;
  readonly after: Check;
  /** The keys of those secret variables whose values stay; null where nobody spoke of any. */
  readonly kept: ReadonlySet<string> | null;
}

type Body = Readonly<Record<string, unknown>>;

/** The variables of checks themselves, whose secret values only agents are told. */
export interface CheckVariables {
  /**
   * A new check.
   *
   * @throws ServiceError 409 where a value is secret and there is no key
   */
  seal(accountId: string, check: Check): SealedCheck & { readonly sealedVariables: Buffer | null };
  /**
   * A check that was there before.
   *
   * @param stored gives what is stored, where that has to be opened
   * @throws ServiceError 409 where there is no key, or none that opens what is kept
   */
  sealChanged(
    key: CheckKey,
    change: VariablesChange,
    stored: () => Promise<Buffer | null>,
  ): Promise<SealedCheck>;
  /** The body of a check as agents are told it. Secret values that cannot be decrypted are left out. */
  open(key: CheckKey, body: Body, sealed: Buffer | null): Body;
  /**
   * The values that must be shown to nobody.
   *
   * @throws ServiceError 409 where they cannot be decrypted
   */
  secretValues(key: CheckKey, sealed: Buffer): readonly string[];
  /** The same, and none where they cannot be. */
  readableSecrets(key: CheckKey, sealed: Buffer): readonly string[];
}

export function createCheckVariables({ log, secrets }: CheckVariablesParts): CheckVariables {
  const unreadable = unreadableSecrets(log);

  const sealValues = (
    key: CheckKey,
    values: ReadonlyMap<string, string>,
    before: Buffer | null = null,
  ): Buffer | null =>
    values.size === 0
      ? null
      : sealedAgain(secrets, JSON.stringify([...values]), { place: placeOf(key), before });
  const unseal = (key: CheckKey, sealed: Buffer): ReadonlyMap<string, string> =>
    new Map(JSON.parse(opened(secrets, sealed, placeOf(key))));
  const readable = (key: CheckKey, sealed: Buffer): ReadonlyMap<string, string> => {
    try {
      return unseal(key, sealed);
    } catch (error) {
      const { accountId, id: checkId } = key;
      unreadable.tell(
        [accountId, checkId],
        { checkId },
        'agents are not told the secret variables of a check',
        error,
      );
      return new Map();
    }
  };

  return {
    seal(accountId, check) {
      const values = new Map(secretsIn(check).map(({ key, value }) => [key, value]));
      const sealedVariables = sealValues({ accountId, id: check.id }, values);
      return { check: withoutSecrets(check), sealedVariables };
    },

    async sealChanged(key, { before, after, kept }, stored) {
      const check = withoutSecrets(after);
      if (kept === null) return { check, sealedVariables: undefined };
      const given = secretsIn(after);
      const secretsBefore = secretsIn(before).length;
      const sealed = secretsBefore === 0 ? null : await stored();
      const isSame = kept.size === given.length && given.length === secretsBefore;
      try {
        const former = sealed === null || kept.size === 0 ? null : unseal(key, sealed);
        const values = given.map((one) => {
          const value = kept.has(one.key) ? (former?.get(one.key) ?? '') : one.value;
          return [one.key, value] as const;
        });
        // Those that stay, too: so a new ENCRYPTION_KEY takes over from the one before.
        return { check, sealedVariables: sealValues(key, new Map(values), sealed) };
      } catch (error) {
        // All stay, and nobody needs to read them for that.
        if (isSame && error instanceof ServiceError) return { check, sealedVariables: undefined };
        throw error;
      }
    },

    open(key, body, sealed) {
      const { variables } = body;
      if (sealed === null || !Array.isArray(variables)) return body;
      const values = readable(key, sealed);
      const told = (variables as readonly OwnVariable[]).flatMap((variable) => {
        if (!variable.secret) return [variable];
        const value = values.get(variable.key);
        return value === undefined ? [] : [{ ...variable, value }];
      });
      return { ...body, variables: told };
    },

    secretValues: (key, sealed) => [...unseal(key, sealed).values()],

    readableSecrets: (key, sealed) => [...readable(key, sealed).values()],
  };
}

/**
 * Variables of an update, in which a secret one without a value, as answers have it, is the stored
 * one of the same key.
 *
 * @param given of any form, what else is wrong with it the model tells; undefined: all stay
 * @throws ServiceError 400 where one that was secret is to be so no more, and has no value
 */
export function withKeptVariables(
  given: unknown,
  before: readonly OwnVariable[],
): { readonly variables: unknown; readonly kept: ReadonlySet<string> | null } {
  if (given === undefined) return { variables: before, kept: null };
  const secretKeys = new Set(before.filter(({ secret }) => secret).map(({ key }) => key));
  const kept = new Set<string>();
  if (!Array.isArray(given)) return { variables: given, kept };
  const variables = (given as readonly unknown[]).map((variable, index) => {
    if (!isRecord(variable)) return variable;
    const { key, value, secret } = variable;
    if (typeof key !== 'string' || !secretKeys.has(key) || (value ?? null) !== null)
      return variable;
    if (secret !== true) {
      // Or whoever may write could read what nobody is to read.
      const message = 'is needed anew when a variable is secret no more';
      throw invalid([bodyProblem(['variables', index, 'value'], message)]);
    }
    kept.add(key);
    return { ...variable, value: '' };
  });
  return { variables, kept };
}

function isRecord(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}

function secretsIn({ variables }: Check): readonly OwnVariable[] {
  return variables.filter(({ secret }) => secret);
}

function withoutSecrets(check: Check): Check {
  const variables = check.variables.map((one) => (one.secret ? { ...one, value: '' } : one));
  return { ...check, variables };
}

function placeOf({ accountId, id }: CheckKey): readonly string[] {
  return ['checks', accountId, id, 'variables'];
}
