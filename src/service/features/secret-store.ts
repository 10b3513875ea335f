import { VedetteError } from '../../runtime/errors.ts';
import { conflict, ServiceError } from '../errors.ts';
import type { SecretBox } from '../secrets/secret-box.ts';

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
