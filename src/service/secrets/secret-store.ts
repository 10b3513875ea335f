import { NOT_READABLE_NAME } from '../../model/credentials/not-readable.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { conflict, type RequestProblem, ServiceError } from '../errors.ts';

/**
 * What encrypts, where there is a key.
 *
 * @throws ServiceError 409 that says what to set
 */
export function boxOf(secrets: SecretBox | null): SecretBox {
  if (secrets !== null) return secrets;
  throw new ServiceError(
    409,
    'This service has no key to encrypt secrets with, and stores none in clear; set ENCRYPTION_KEY and start it again',
    { attributes: { needed: 'ENCRYPTION_KEY' } },
  );
}

/**
 * Of a secret that no key opens.
 *
 * @param fields of the request that keep such a secret, and have to have new ones
 */
export function notReadable(
  { message, attributes }: Pick<ServiceError, 'message' | 'attributes'>,
  fields: readonly RequestProblem['path'][],
): ServiceError {
  const shown = fields.slice(0, MAX_NAMED).join(', ');
  const more = fields.length > MAX_NAMED ? ` and ${fields.length - MAX_NAMED} more` : '';
  return conflict(`${message}: ${shown}${more}`, { ...attributes, fields });
}

/** What `read` gives of secrets that an update keeps; its 409 names the fields. */
export function readKept<Result>(fields: readonly string[], read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof ServiceError ? notReadable(error, fields) : error;
  }
}

/** More fields are not named in a message. */
const MAX_NAMED = 5;

/** @throws ServiceError 409 CREDENTIAL_NOT_READABLE that says what to do, where there is no key that opens it */
export function opened(
  secrets: SecretBox | null,
  sealed: Uint8Array,
  place: readonly string[],
): string {
  if (secrets === null) {
    throw conflict(
      'A stored secret cannot be decrypted, as ENCRYPTION_KEY is not set: set it to the key that encrypted it and start the service again; or give it again',
      { code: NOT_READABLE_NAME, needed: 'ENCRYPTION_KEY' },
    );
  }
  try {
    return secrets.open(sealed, place);
  } catch (error) {
    if (!(error instanceof VedetteError) || error.code !== 'SECRET_UNREADABLE') throw error;
    const { message } = error;
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}; or give it again`, {
      code: NOT_READABLE_NAME,
    });
  }
}

/**
 * A secret that is written once more. What says the same by the newest key stays, byte by byte:
 * `vedette apply` writes all of them each time, and agents need not hear of what is no change.
 *
 * @param before null where there was none
 * @throws ServiceError 409 where there is no key
 */
export function sealedAgain(
  secrets: SecretBox | null,
  text: string,
  { place, before }: { readonly place: readonly string[]; readonly before: Buffer | null },
): Buffer {
  const box = boxOf(secrets);
  if (before === null || !box.isOfNewestKey(before)) return box.seal(text, place);
  try {
    if (box.open(before, place) === text) return before;
  } catch {
    // It was damaged: the new one takes its place.
  }
  return box.seal(text, place);
}

/** Tells of secrets that cannot be decrypted. */
export interface UnreadableSecrets {
  /** Once of each name, and never the secret. */
  tell(
    name: readonly string[],
    fields: Readonly<Record<string, unknown>>,
    what: string,
    error: unknown,
  ): void;
}

/** More than anybody reads; those after them are not told of. */
const MAX_TOLD = 1_000;

export function unreadableSecrets(log: Logger): UnreadableSecrets {
  const told = new Set<string>();
  return {
    tell(name, fields, what, error) {
      const id = JSON.stringify(name);
      if (told.has(id) || told.size >= MAX_TOLD) return;
      told.add(id);
      log.error(fields, `${what}: ${messageOf(error)}`);
    },
  };
}
