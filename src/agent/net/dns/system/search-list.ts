import { absoluteName } from '../message/names.ts';
import type { ResolvConf } from './resolv-conf.ts';

/**
 * The absolute names that stand for a host name, in the order in which they are tried
 * (resolv.conf(5), `search` and `ndots`): as given first where it has `ndots` dots or more, else
 * last. `name` is absolute; `hasTrailingDot` says that the user wrote it so, which rules the
 * search list out. Names that become too long with a domain are left out.
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
