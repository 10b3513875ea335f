import { NOT_READABLE_NAME } from '../../model/credentials/not-readable.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { conflict, type RequestProblem, ServiceError } from '../errors.ts';

/** @throws ServiceError 409 where there is no key to encrypt with */
export function requireSecretBox(secrets: SecretBox | null): SecretBox {
  if (secrets !== null) return secrets;
  throw new ServiceError(
    409,
    'The service has no key to encrypt secrets with, and does not store them unencrypted: set ENCRYPTION_KEY and restart the service',
    { attributes: { needed: 'ENCRYPTION_KEY' } },
  );
}

/**
 * The error for retained secrets that cannot be decrypted.
 *
 * @param fields of the request that retain such a secret
 */
export function notReadable(
  { message, attributes }: Pick<ServiceError, 'message' | 'attributes'>,
  fields: readonly RequestProblem['path'][],
): ServiceError {
  const shown = fields.slice(0, MAX_NAMED).join(', ');
  const more = fields.length > MAX_NAMED ? ` and ${fields.length - MAX_NAMED} more` : '';
  return conflict(`${message}: ${shown}${more}`, { ...attributes, fields });
}

/** Reads secrets that an update retains; a 409 names the fields. */
export function readRetained<Result>(fields: readonly string[], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof ServiceError ? notReadable(error, fields) : error;
  }
}

/** The most fields that a message names. */
const MAX_NAMED = 5;

/** @throws ServiceError 409 CREDENTIAL_NOT_READABLE, with advice, if no key decrypts the text */
export function decryptSecret(
  secrets: SecretBox | null,
  sealed: Uint8Array,
  context: readonly string[],
): string {
  if (secrets === null) {
    throw conflict(
      'A stored secret cannot be decrypted because ENCRYPTION_KEY is not set: set it to the key that encrypted the secret and restart the service, or send the secret again',
      { code: NOT_READABLE_NAME, needed: 'ENCRYPTION_KEY' },
    );
  }
  try {
    return secrets.open(sealed, context);
  } catch (error) {
    if (!(error instanceof VedetteError) || error.code !== 'SECRET_UNREADABLE') throw error;
    const { message } = error;
    const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}; or send the secret again`;
    throw conflict(text, { code: NOT_READABLE_NAME });
  }
}

/**
 * Encrypts a secret of an update. Returns `before` if it contains the same text, encrypted with the newest key:
 * `vedette apply` sends all secrets each time, and agents need not get an unchanged secret again.
 *
 * @param before null for a new secret
 * @throws ServiceError 409 where there is no key
 */
export function reencryptSecret(
  secrets: SecretBox | null,
  text: string,
  { context, before }: { readonly context: readonly string[]; readonly before: Buffer | null },
): Buffer {
  const box = requireSecretBox(secrets);
  if (before === null || !box.isOfNewestKey(before)) return box.seal(text, context);
  try {
    if (box.open(before, context) === text) return before;
  } catch {
    // The stored secret is damaged; it is replaced.
  }
  return box.seal(text, context);
}

/** Logs secrets that cannot be decrypted. */
export interface UnreadableSecrets {
  /** Logs once for each name, and never the secret. */
  report(
    name: readonly string[],
    fields: Readonly<Record<string, unknown>>,
    text: string,
    error: unknown,
  ): void;
}

/** Maximum number of names that are logged. */
const MAX_LOGGED = 1_000;

export function unreadableSecrets(log: Logger): UnreadableSecrets {
  const logged = new Set<string>();
  return {
    report(name, fields, text, error) {
      const id = JSON.stringify(name);
      if (logged.has(id) || logged.size >= MAX_LOGGED) return;
      logged.add(id);
      log.error(fields, `${text}: ${messageOf(error)}`);
    },
  };
}
