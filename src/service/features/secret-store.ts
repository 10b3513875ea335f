import { ServiceError } from '../errors.ts';
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
