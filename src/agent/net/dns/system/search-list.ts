import { absoluteName } from '../message/names.ts';
import type { ResolvConf } from './resolv-conf.ts';

/**
 * The absolute names to try for a host name, in order (resolv.conf(5), `search` and `ndots`): the
 * name as given comes first if it has `ndots` dots or more, else last. `name` is absolute;
 * `hasTrailingDot`: the user wrote the dot, so the search list does not apply. Leaves out names
 * that become too long with a domain.
 */
export function candidateNames(
  name: string,
  hasTrailingDot: boolean,
  { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>,
): readonly string[] {
  if (hasTrailingDot) return [name];
  const dots = name.split('.').length - 2;
  const below = search.flatMap((domain) => absoluteName(`${name}${domain}`) ?? []);
  return dots >= ndots ? [name, ...below] : [...below, name];
}
