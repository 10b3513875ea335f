import { isIP } from 'node:net';
import type { Family } from '../resolver.ts';
import type { DnsMessage } from './message/message.ts';
import { CLASS_IN, TYPE_NUMBERS } from './message/parameters.ts';

export function addressType(family: Family): number {
  return family === 4 ? TYPE_NUMBERS.A : TYPE_NUMBERS.AAAA;
}

export interface AddressAnswer {
  /** In the server's order. */
  readonly addresses: readonly string[];
  /** The name at the end of the aliases; the queried name if there are none. */
  readonly finalName: string;
}

/**
 * The addresses in an answer: those of the name itself, or of the name that its aliases lead to
 * within the answer (RFC 1034 3.6.2). Ignores records of other names.
 */
export function addressesIn(message: DnsMessage, name: string, family: Family): AddressAnswer {
  const type = addressType(family);
  const aliases = new Map<string, string>();
  for (const record of message.answers) {
    if (record.type !== TYPE_NUMBERS.CNAME || record.class !== CLASS_IN) continue;
    aliases.set(record.name.toLowerCase(), record.data);
  }
  let finalName = name;
  // Follows each alias once, so that a loop of aliases ends.
  for (let next = aliases.get(key(name)); next !== undefined; next = aliases.get(key(finalName))) {
    aliases.delete(key(finalName));
    finalName = next;
  }
  const addresses = message.answers
    .filter((record) => record.type === type && record.class === CLASS_IN)
    .filter((record) => key(record.name) === key(finalName) && isIP(record.data) === family)
    .map(({ data }) => data);
  return { addresses, finalName };
}

function key(name: string): string {
  return name.toLowerCase();
}
