import type { Family } from '../../resolver.ts';
import { displayName } from '../message/names.ts';
import { foundOrNull, missedOrOver, type SourceResult } from '../source-result.ts';
import type { HostsFile } from './hosts-file.ts';

/** Looks an absolute name up in the hosts file. */
export function findInHosts(hosts: HostsFile, name: string, family: Family): SourceResult {
  const found = foundOrNull(hosts.addresses(name, family));
  if (found !== null) return found;
  const other: Family = family === 4 ? 6 : 4;
  const who = `The name ${displayName(name)}`;
  if (hosts.addresses(name, other).length === 0) {
    return missedOrOver({ code: 'DNS_NXDOMAIN', message: `${who} is not in the hosts file` });
  }
  const message = `${who} has no IPv${family} address; the hosts file has an IPv${other} address`;
  return missedOrOver({ code: 'DNS_NO_ADDRESS', message });
}
