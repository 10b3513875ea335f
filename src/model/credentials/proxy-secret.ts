import { originOf } from './origin.ts';
import { holdsMask, MASK } from './sensitive-headers.ts';
import { mapUrlSecret, urlSecretOf } from './url-secret.ts';

const NOTHING_HIDDEN = `must not hold ${MASK} but for a password, or a user without one: it stands for those alone`;
const PARTIAL = `must not have ${MASK} beside other text: it stands for a hidden password or user as a whole, so send ${MASK} alone to keep the stored one, or give it again`;

/** The URL of a location's proxy as answers show it. No templates are filled in there. */
export function hiddenProxyUrl(proxyUrl: string): string {
  return mapUrlSecret(proxyUrl, () => MASK);
}

/**
 * Fills in the stored secret where an update sends it back masked.
 *
 * @param given of any form: the model of locations finds what else is wrong with it
 * @param before as it is stored; its mask replaces the secret, which is stored encrypted
 */
export function withKeptSecret(
  given: unknown,
  before: string | null,
): { readonly proxyUrl: unknown; readonly problem: string | null } {
  if (typeof given !== 'string' || !holdsMask(given)) return { proxyUrl: given, problem: null };
  const secret = urlSecretOf(given);
  if (secret === null || holdsMask(mapUrlSecret(given, () => '').replace(secret.username, ''))) {
    return { proxyUrl: given, problem: NOTHING_HIDDEN };
  }
  if (holdsMask(secret.username)) {
    const problem = `must not have ${MASK} for a user beside a password: a user is hidden only where it stands alone, so give it again`;
    return { proxyUrl: given, problem };
  }
  if (secret.text !== MASK) return { proxyUrl: given, problem: PARTIAL };
  const stored = before === null ? null : urlSecretOf(before);
  if (before === null || stored === null || stored.part !== secret.part) {
    const name = secret.part === 'password' ? 'password' : 'user';
    const problem = `must not have ${MASK} for a ${name}: this stands for a hidden one, and none is stored here`;
    return { proxyUrl: given, problem };
  }
  if (originOf(given) !== originOf(before)) {
    const name = stored.part === 'password' ? 'password' : 'user';
    const problem = `must have its ${name} again: a hidden one stays only where scheme, host and port of the proxy stay the same`;
    return { proxyUrl: given, problem };
  }
  return { proxyUrl: mapUrlSecret(given, () => stored.text), problem: null };
}
