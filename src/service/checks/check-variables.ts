import type { Check } from '../../model/check/check.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import {
  afterScheme,
  isCredential,
  percentDecoded,
} from '../../model/credentials/credential-text.ts';
import { NOT_READABLE, withNotReadable } from '../../model/credentials/not-readable.ts';
import {
  credentialTexts,
  isCredentialId,
  mapCredentials,
  URL_FIELDS,
} from '../../model/credentials/credential-fields.ts';
import { holdsMask, MASK } from '../../model/credentials/sensitive-headers.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { invalid, ServiceError } from '../errors.ts';
import { bodyProblem, MASK_GIVEN } from '../http/resources/input-problems.ts';
import { notReadable, opened, sealedAgain, unreadableSecrets } from '../secrets/secret-store.ts';
import type { CheckKey } from './sql.ts';

export interface CheckVariablesParts {
  readonly log: Logger;
  /** null: no secret value can be stored, and credentials are stored in clear. */
  readonly secrets: SecretBox | null;
  /** Whether credentials are to be encrypted now. Left out: where there is a key. */
  readonly sealsCredentials?: () => boolean;
}

/** What of a check is stored, and where: the values of its secrets are apart. */
export interface SealedCheck {
  /** With an empty text in the place of each secret variable, and a mask in that of a credential. */
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

const URL_IDS: readonly string[] = Object.values(URL_FIELDS).map(({ id }) => id);

type Body = Readonly<Record<string, unknown>>;

/**
 * The secrets of checks themselves, which are sent to agents alone: the values of secret variables, and
 * the credentials in requests. Both are encrypted together, by the keys of the variables and the ids
 * of the credentials.
 */
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
  /**
   * The body of a check as it is sent to agents. A credential that cannot be decrypted is a template that
   * no variable fills, and so is each text's place of a secret variable, which is left out itself: the
   * check fails, and nothing is sent.
   */
  open(key: CheckKey, body: Body, sealed: Buffer | null): Body;
  /**
   * The values to hide from everybody, in each form that a target may repeat.
   *
   * @throws ServiceError 409 where they cannot be decrypted
   */
  secretValues(key: CheckKey, sealed: Buffer): readonly string[];
  /** The same, and none where they cannot be. */
  readableSecrets(key: CheckKey, sealed: Buffer): readonly string[];
  /**
   * A check as it is to be stored now, of one that was stored by another release or with another key:
   * credentials encrypted, and all of it by the newest key.
   *
   * @returns null where it is stored so already
   * @throws ServiceError 409 where it cannot be decrypted
   */
  sealAgain(key: CheckKey, body: Body, sealed: Buffer | null): StoredSecrets | null;
  /**
   * The same with the credentials in clear, as releases before have them.
   *
   * @throws ServiceError 409 where it cannot be decrypted
   */
  unsealCredentials(key: CheckKey, body: Body, sealed: Buffer | null): StoredSecrets | null;
}

export interface StoredSecrets {
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
}

export function createCheckVariables(parts: CheckVariablesParts): CheckVariables {
  const { log, secrets, sealsCredentials = () => secrets !== null } = parts;
  const unreadable = unreadableSecrets(log);

  const sealValues = (
    key: CheckKey,
    values: ReadonlyMap<string, string>,
    before: Buffer | null = null,
  ): Buffer | null =>
    values.size === 0
      ? null
      : sealedAgain(secrets, JSON.stringify([...values]), { place: sealingContextOf(key), before });
  const unseal = (key: CheckKey, sealed: Buffer): ReadonlyMap<string, string> =>
    new Map(JSON.parse(opened(secrets, sealed, sealingContextOf(key))));
  const readable = (key: CheckKey, sealed: Buffer): ReadonlyMap<string, string> => {
    try {
      return unseal(key, sealed);
    } catch (error) {
      const { accountId, id: checkId } = key;
      unreadable.tell(
        [accountId, checkId],
        { checkId },
        'the secret variables and credentials of a check are not sent to agents',
        error,
      );
      return new Map();
    }
  };
  /** Those to be encrypted now: a mask stands for one that is. */
  const sealable = ({ request }: Check): ReadonlyMap<string, string> => {
    const isNow = sealsCredentials();
    const texts = [...credentialTexts(request)];
    return new Map(texts.filter(([, text]) => text === MASK || (isNow && isCredential(text))));
  };

  return {
    seal(accountId, check) {
      const variables = secretsIn(check).map(({ key, value }) => [key, value] as const);
      const credentials = sealable(check);
      const values = new Map([...variables, ...credentials]);
      const sealedVariables = sealValues({ accountId, id: check.id }, values);
      return { check: withoutSecrets(check, credentials), sealedVariables };
    },

    async sealChanged(key, { before, after, kept }, stored) {
      const credentials = sealable(after);
      const check = withoutSecrets(after, credentials);
      const masked = [...credentials].filter(([, text]) => text === MASK);
      const maskedBefore = [...credentialTexts(before.request)].filter(([, text]) => text === MASK);
      const areCredentialsSame =
        masked.length === credentials.size && masked.length === maskedBefore.length;
      if (kept === null && areCredentialsSame) return { check, sealedVariables: undefined };
      const given = secretsIn(after);
      const secretsBefore = secretsIn(before);
      const keptKeys = kept ?? new Set(secretsBefore.map((one) => one.key));
      const hadSecrets = secretsBefore.length + maskedBefore.length > 0;
      const sealed = hadSecrets ? await stored() : null;
      const isSame =
        areCredentialsSame &&
        keptKeys.size === given.length &&
        given.length === secretsBefore.length;
      const keepsAny = keptKeys.size + masked.length > 0;
      let former: ReadonlyMap<string, string> | null = null;
      try {
        if (sealed !== null && keepsAny) former = unseal(key, sealed);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        // All stay, so they need not be decrypted.
        if (isSame) return { check, sealedVariables: undefined };
        throw notReadable(error, keptFields(after, keptKeys));
      }
      try {
        const variables = given.map((one) => {
          const value = keptKeys.has(one.key) ? (former?.get(one.key) ?? '') : one.value;
          return [one.key, value] as const;
        });
        const texts = [...credentials].map(([id, text]) => {
          return [id, text === MASK ? (former?.get(id) ?? '') : text] as const;
        });
        // Those that stay, too: so a new ENCRYPTION_KEY takes over from the one before.
        const values = new Map([...variables, ...texts]);
        return { check, sealedVariables: sealValues(key, values, sealed) };
      } catch (error) {
        if (isSame && error instanceof ServiceError) return { check, sealedVariables: undefined };
        throw error;
      }
    },

    open(key, body, sealed) {
      if (sealed === null) return body;
      const values = readable(key, sealed);
      const { variables } = body;
      const request = withCredentials(body.request, (id) => values.get(id) ?? NOT_READABLE);
      if (!Array.isArray(variables)) return { ...body, request };
      const lost = new Set<string>();
      const sent = (variables as readonly OwnVariable[]).flatMap((variable) => {
        if (!variable.secret) return [variable];
        const value = values.get(variable.key);
        if (value !== undefined) return [{ ...variable, value }];
        lost.add(variable.key);
        return [];
      });
      return { ...body, request: withNotReadable(request, lost), variables: sent };
    },

    secretValues: (key, sealed) => repeatableForms(unseal(key, sealed)),

    readableSecrets: (key, sealed) => repeatableForms(readable(key, sealed)),

    sealAgain(key, body, sealed) {
      if (secrets === null) return null;
      const texts = [...credentialTexts(body.request)];
      const open = texts.filter(([, text]) => text !== MASK && isCredential(text));
      const isOld = sealed !== null && !secrets.isOfNewestKey(sealed);
      if (open.length === 0 && !isOld) return null;
      const values = new Map([...(sealed === null ? [] : unseal(key, sealed)), ...open]);
      const credentials = new Map(open);
      const request = mapCredentials(body.request, (text, { id }) =>
        credentials.has(id) ? MASK : text,
      );
      return { body: { ...body, request }, sealedVariables: sealValues(key, values) };
    },

    unsealCredentials(key, body, sealed) {
      if (sealed === null) return null;
      const values = unseal(key, sealed);
      const others = [...values].filter(([id]) => !isCredentialId(id));
      if (others.length === values.size) return null;
      const request = withCredentials(body.request, (id) => values.get(id) ?? MASK);
      return { body: { ...body, request }, sealedVariables: sealValues(key, new Map(others)) };
    },
  };
}

/** The paths of the secret variables and credentials that keep their stored value. */
function keptFields(after: Check, keptKeys: ReadonlySet<string>): readonly string[] {
  const paths: (readonly PropertyKey[])[] = [];
  mapCredentials(after.request, (text, { path }) => {
    if (text === MASK) paths.push(['request', ...path]);
    return text;
  });
  for (const [index, { key, secret }] of after.variables.entries()) {
    if (secret && keptKeys.has(key)) paths.push(['variables', index, 'value']);
  }
  return paths.map((path) => bodyProblem(path, '').path);
}

/** Replaces the masks by the credentials. */
function withCredentials(request: unknown, textOf: (id: string) => string): unknown {
  return mapCredentials(request, (text, { id }) => (text === MASK ? textOf(id) : text));
}

/** In each form that a target may repeat: also without a scheme, and that of a URL decoded. */
function repeatableForms(values: ReadonlyMap<string, string>): readonly string[] {
  return [...values].flatMap(([id, value]) => {
    if (!isCredentialId(id)) return [value];
    const token = afterScheme(value);
    const forms = token === null ? [value] : [value, token];
    const decoded = URL_IDS.includes(id) ? percentDecoded(value) : value;
    return decoded === value ? forms : [...forms, decoded];
  });
}

/**
 * The variables as they are given; answers have no value for a secret one, so a mask is from elsewhere.
 *
 * @throws ServiceError 400 where a secret value has a mask in it
 */
export function refuseMaskedVariables(variables: readonly OwnVariable[]): void {
  const problems = variables.flatMap(({ secret, value }, index) =>
    secret && holdsMask(value) ? [bodyProblem(['variables', index, 'value'], MASK_GIVEN)] : [],
  );
  if (problems.length > 0) throw invalid(problems);
}

/**
 * Variables of an update, in which a secret one without a value, as answers have it, is the stored
 * one of the same key.
 *
 * @param given of any form: the model finds what else is wrong with it; undefined: all stay
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
      // Otherwise a caller with write access could read the secret value.
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

function withoutSecrets<C extends Check>(check: C, credentials: ReadonlyMap<string, string>): C {
  const variables = check.variables.map((one) => (one.secret ? { ...one, value: '' } : one));
  const request = mapCredentials(check.request, (text, { id }) =>
    credentials.has(id) ? MASK : text,
  );
  return { ...check, request, variables };
}

function sealingContextOf({ accountId, id }: CheckKey): readonly string[] {
  return ['checks', accountId, id, 'variables'];
}
