import { messageOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { conflict, ServiceError } from '../errors.ts';

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

/** @throws ServiceError 409 that says what to do, where there is no key that opens it */
export function opened(
  secrets: SecretBox | null,
  sealed: Uint8Array,
  place: readonly string[],
): string {
  try {
    return boxOf(secrets).open(sealed, place);
  } catch (error) {
    if (!(error instanceof VedetteError) || error.code !== 'SECRET_UNREADABLE') throw error;
    const { message } = error;
    throw conflict(
      `${message.charAt(0).toUpperCase()}${message.slice(1)}; or replace it by a new one`,
    );
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
