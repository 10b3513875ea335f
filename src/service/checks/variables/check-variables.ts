import type { Check } from '../../../model/check/check.ts';
import type { OwnVariable } from '../../../model/check/variable.ts';
import {
  credentialTexts,
  isCredentialId,
  mapCredentials,
  URL_FIELDS,
} from '../../../model/credentials/credential-fields.ts';
import { afterScheme, isCredential } from '../../../model/credentials/credential-text.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { NOT_READABLE, withNotReadable } from '../../../model/credentials/not-readable.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import { percentDecoded } from '../../../runtime/text/percent-decoded.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { ServiceError } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import {
  decryptSecret,
  notReadable,
  reencryptSecret,
  unreadableSecrets,
} from '../../secrets/secret-store.ts';

export interface CheckVariablesParts {
  readonly log: Logger;
  /** null: no secret value can be stored, and credentials are stored unencrypted. */
  readonly secrets: SecretBox | null;
  /** Whether credentials are encrypted now. Default: if there is a key. */
  readonly sealsCredentials?: () => boolean;
}

/** A check as it is stored: the values of its secrets are stored separately. */
export interface SealedCheck {
  /** The values of secret variables are empty, and a mask replaces each credential. */
  readonly check: Check;
  /** The encrypted values; null if there are none, undefined if the stored ones do not change. */
  readonly sealedVariables: Buffer | null | undefined;
}

export interface VariablesChange {
  readonly before: Check;
  readonly after: Check;
  /** The keys of secret variables whose values are retained; null if the update has no variables. */
  readonly retained: ReadonlySet<string> | null;
}

const URL_IDS: readonly string[] = Object.values(URL_FIELDS).map(({ id }) => id);

type Body = Readonly<Record<string, unknown>>;

/**
 * The secrets of checks, which only agents get: the values of secret variables, and the credentials in
 * requests. Both are encrypted as one map, whose keys are those of the variables and the ids of the
 * credentials.
 */
export interface CheckVariables {
  /**
   * Seals a new check.
   *
   * @throws ServiceError 409 where a value is secret and there is no key
   */
  seal(accountId: string, check: Check): SealedCheck & { readonly sealedVariables: Buffer | null };
  /**
   * Seals a changed check.
   *
   * @param stored reads the stored values; called only if they have to be decrypted
   * @throws ServiceError 409 where there is no key, or no key decrypts the retained values
   */
  sealChanged(
    key: AccountKey,
    change: VariablesChange,
    stored: () => Promise<Buffer | null>,
  ): Promise<SealedCheck>;
  /**
   * Returns the body of a check for agents. Replaces a credential that cannot be decrypted by a template without
   * a matching variable. Omits a secret variable that cannot be decrypted, and replaces its uses in the same way.
   * The check then fails without sending a request.
   */
  open(key: AccountKey, body: Body, sealed: Buffer | null): Body;
  /**
   * Returns the values to mask, in each form in which a target may repeat them.
   *
   * @throws ServiceError 409 where they cannot be decrypted
   */
  secretValues(key: AccountKey, sealed: Buffer): readonly string[];
  /** `secretValues`, or none if they cannot be decrypted. */
  readableSecrets(key: AccountKey, sealed: Buffer): readonly string[];
  /**
   * Encrypts the credentials and all values of a stored check with the newest key.
   *
   * @returns null if they are already encrypted with it
   * @throws ServiceError 409 where they cannot be decrypted
   */
  sealAgain(key: AccountKey, body: Body, sealed: Buffer | null): StoredSecrets | null;
  /**
   * Decrypts the credentials of a stored check, as earlier releases store them.
   *
   * @returns null if there are none
   * @throws ServiceError 409 where they cannot be decrypted
   */
  unsealCredentials(key: AccountKey, body: Body, sealed: Buffer | null): StoredSecrets | null;
}

export interface StoredSecrets {
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
}

export function createCheckVariables(parts: CheckVariablesParts): CheckVariables {
  const { log, secrets, sealsCredentials = () => secrets !== null } = parts;
  const unreadable = unreadableSecrets(log);

  const sealValues = (
    key: AccountKey,
    values: ReadonlyMap<string, string>,
    before: Buffer | null = null,
  ): Buffer | null =>
    values.size === 0
      ? null
      : reencryptSecret(secrets, JSON.stringify([...values]), {
          context: sealingContextOf(key),
          before,
        });
  const unseal = (key: AccountKey, sealed: Buffer): ReadonlyMap<string, string> =>
    new Map(JSON.parse(decryptSecret(secrets, sealed, sealingContextOf(key))));
  const readable = (key: AccountKey, sealed: Buffer): ReadonlyMap<string, string> => {
    try {
      return unseal(key, sealed);
    } catch (error) {
      const { accountId, id: checkId } = key;
      const text = 'the secret variables and credentials of a check are not sent to agents';
      unreadable.report([accountId, checkId], { checkId }, text, error);
      return new Map();
    }
  };
  /** The credentials to encrypt; a mask stands for a stored one. */
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

    async sealChanged(key, { before, after, retained }, stored) {
      const credentials = sealable(after);
      const check = withoutSecrets(after, credentials);
      const masked = [...credentials].filter(([, text]) => text === MASK);
      const maskedBefore = [...credentialTexts(before.request)].filter(([, text]) => text === MASK);
      const areCredentialsSame =
        masked.length === credentials.size && masked.length === maskedBefore.length;
      if (retained === null && areCredentialsSame) return { check, sealedVariables: undefined };
      const given = secretsIn(after);
      const secretsBefore = secretsIn(before);
      const retainedKeys = retained ?? new Set(secretsBefore.map((one) => one.key));
      const hadSecrets = secretsBefore.length + maskedBefore.length > 0;
      const sealed = hadSecrets ? await stored() : null;
      const isSame =
        areCredentialsSame &&
        retainedKeys.size === given.length &&
        given.length === secretsBefore.length;
      const keepsAny = retainedKeys.size + masked.length > 0;
      let former: ReadonlyMap<string, string> | null = null;
      try {
        if (sealed !== null && keepsAny) former = unseal(key, sealed);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        // Nothing changes, so there is no need to decrypt.
        if (isSame) return { check, sealedVariables: undefined };
        throw notReadable(error, retainedFields(after, retainedKeys));
      }
      try {
        const variables = given.map((one) => {
          const value = retainedKeys.has(one.key) ? (former?.get(one.key) ?? '') : one.value;
          return [one.key, value] as const;
        });
        const texts = [...credentials].map(([id, text]) => {
          return [id, text === MASK ? (former?.get(id) ?? '') : text] as const;
        });
        // Includes the retained ones: a new ENCRYPTION_KEY replaces the previous one.
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

/** The paths of the secret variables and credentials that keep their stored values. */
function retainedFields(after: Check, retainedKeys: ReadonlySet<string>): readonly string[] {
  const paths: (readonly PropertyKey[])[] = [];
  mapCredentials(after.request, (text, { path }) => {
    if (text === MASK) paths.push(['request', ...path]);
    return text;
  });
  for (const [index, { key, secret }] of after.variables.entries()) {
    if (secret && retainedKeys.has(key)) paths.push(['variables', index, 'value']);
  }
  return paths.map((path) => bodyProblem(path, '').path);
}

/** Replaces the masks by the credentials. */
function withCredentials(request: unknown, textOf: (id: string) => string): unknown {
  return mapCredentials(request, (text, { id }) => (text === MASK ? textOf(id) : text));
}

/** Adds the forms that a target may repeat: without the authentication scheme, and percent-decoded. */
function repeatableForms(values: ReadonlyMap<string, string>): readonly string[] {
  return [...values].flatMap(([id, value]) => {
    if (!isCredentialId(id)) return [value];
    const token = afterScheme(value);
    const forms = token === null ? [value] : [value, token];
    const decoded = URL_IDS.includes(id) ? percentDecoded(value) : value;
    return decoded === value ? forms : [...forms, decoded];
  });
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

function sealingContextOf({ accountId, id }: AccountKey): readonly string[] {
  return ['checks', accountId, id, 'variables'];
}
