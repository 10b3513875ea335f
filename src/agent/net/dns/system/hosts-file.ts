import { isIP } from 'node:net';
import { plainName } from '../../../../runtime/net/host-names.ts';
import type { Family } from '../../resolver.ts';
import { displayName } from '../message/names.ts';
import { foundOrNull, lookupFailure, type SourceResult } from './source-result.ts';

/** hosts(5): addresses of each name, in the file's order. */
export interface HostsFile {
  addresses(name: string, family: Family): readonly string[];
}

/** Skips lines that are not an address with names, as the C library does. */
export function parseHosts(text: string): HostsFile {
  const byFamily = { 4: new Map<string, Set<string>>(), 6: new Map<string, Set<string>>() };
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*$/s, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names) add(byFamily[family], plainName(name), address);
  }
  return { addresses: (name, family) => [...(byFamily[family].get(plainName(name)) ?? [])] };
}

export function findInHosts(hosts: HostsFile, name: string, family: Family): SourceResult {
  const found = foundOrNull(hosts.addresses(name, family));
  if (found !== null) return found;
  const other: Family = family === 4 ? 6 : 4;
  const who = `The name ${displayName(name)}`;
  if (hosts.addresses(name, other).length === 0) {
    return lookupFailure({ code: 'DNS_NXDOMAIN', message: `${who} is not in the hosts file` });
  }
  const message = `${who} has no IPv${family} address; the hosts file has an IPv${other} address`;
  return lookupFailure({ code: 'DNS_NO_ADDRESS', message });
}

function add(map: Map<string, Set<string>>, key: string, address: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([address]));
  else known.add(address);
}
