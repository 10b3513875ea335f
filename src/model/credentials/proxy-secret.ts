import { holdsMask, MASK } from './mask.ts';
import { originOf } from './origin.ts';
import { mapUrlSecret, urlSecretOf } from './url-secret.ts';

const NOTHING_HIDDEN = `must not contain ${MASK} except as the password, or as the user if there is no password`;
const PARTIAL = `must not have ${MASK} beside other text: send ${MASK} alone to keep the stored password or user, or send the whole new one`;

/** The URL of a location's proxy as responses show it. It contains no templates. */
export function maskProxyUrl(proxyUrl: string): string {
  return mapUrlSecret(proxyUrl, () => MASK);
}

/**
 * Fills in the stored secret if an update sends it back masked.
 *
 * @param given of any form: the model of locations finds what else is wrong with it
 * @param before as it is stored; its mask replaces the secret, which is stored encrypted
 */
export function withRetainedSecret(
  given: unknown,
  before: string | null,
): { readonly proxyUrl: unknown; readonly problem: string | null } {
  if (typeof given !== 'string' || !holdsMask(given)) return { proxyUrl: given, problem: null };
  const secret = urlSecretOf(given);
  if (secret === null || holdsMask(mapUrlSecret(given, () => '').replace(secret.username, ''))) {
    return { proxyUrl: given, problem: NOTHING_HIDDEN };
  }
  if (holdsMask(secret.username)) {
    const problem = `must not have ${MASK} as a user beside a password: a user is hidden only without a password, so send the user`;
    return { proxyUrl: given, problem };
  }
  if (secret.text !== MASK) return { proxyUrl: given, problem: PARTIAL };
  const stored = before === null ? null : urlSecretOf(before);
  if (before === null || stored === null || stored.part !== secret.part) {
    const name = secret.part === 'password' ? 'password' : 'user';
    const problem = `must not have ${MASK} as its ${name}: this keeps a stored one, and none is stored here`;
    return { proxyUrl: given, problem };
  }
  if (originOf(given) !== originOf(before)) {
    const name = stored.part === 'password' ? 'password' : 'user';
    const problem = `must have its ${name} again: a hidden one is kept only if scheme, host and port of the proxy do not change`;
    return { proxyUrl: given, problem };
  }
  return { proxyUrl: mapUrlSecret(given, () => stored.text), problem: null };
}
