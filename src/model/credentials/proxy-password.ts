import { MASK } from '../sensitive-headers.ts';
import { originOf } from './origin.ts';
import { mapUrlPassword, urlPasswordOf } from './url-password.ts';

/** The URL of a location's proxy as answers show it. No templates are filled in there. */
export function hiddenProxyUrl(proxyUrl: string): string {
  return mapUrlPassword(proxyUrl, (password) => (password === '' ? '' : MASK));
}

/**
 * Fills in the stored password where an update sends it back masked.
 *
 * @param given of any form: the model of locations finds what else is wrong with it
 * @param before as it is stored; its mask stands for what is encrypted beside it
 */
export function withKeptPassword(
  given: unknown,
  before: string | null,
): { readonly proxyUrl: unknown; readonly problem: string | null } {
  if (typeof given !== 'string' || urlPasswordOf(given) !== MASK) {
    return { proxyUrl: given, problem: null };
  }
  const password = before === null ? null : urlPasswordOf(before);
  if (before === null || password === null || password === '') {
    const problem = `must not have ${MASK} for a password: this stands for a hidden one, and none is stored here`;
    return { proxyUrl: given, problem };
  }
  if (originOf(given) !== originOf(before)) {
    const problem =
      'must have its password anew: a hidden one stays only where scheme, host and port of the proxy stay the same';
    return { proxyUrl: given, problem };
  }
  return { proxyUrl: mapUrlPassword(given, () => password), problem: null };
}
