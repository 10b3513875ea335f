import { isIP } from 'node:net';
import type { Family } from '../../resolver.ts';

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
    for (const name of names) add(byFamily[family], keyOf(name), address);
  }
  return { addresses: (name, family) => [...(byFamily[family].get(keyOf(name)) ?? [])] };
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function add(map: Map<string, Set<string>>, key: string, address: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([address]));
  else known.add(address);
}
