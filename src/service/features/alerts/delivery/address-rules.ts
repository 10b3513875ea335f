import { lookup as lookUp } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** A network as it was configured: an address with a prefix length in bits. */
export interface DeniedNetwork {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** Says whether an address may be reached at all (DELIVERY_DENY). */
export interface AddressRules {
  /** The denied network that holds the address, as it was configured; null where it is free. */
  deniedBy(address: string): string | null;
}

/** In ::ffff:0:0/96 IPv6 writes the addresses of IPv4 (RFC 4291 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;

/** IPv4 networks also shut out the same addresses written as IPv4-mapped IPv6, and vice versa. */
export function addressRules(networks: readonly DeniedNetwork[]): AddressRules {
  const lists = networks.map(({ text, address, prefixBits }) => {
    const list = new BlockList();
    const isV6 = isIPv6(address);
    list.addSubnet(address, prefixBits, isV6 ? 'ipv6' : 'ipv4');
    // A BlockList takes every IPv4 address for a mapped one: ::/0 would shut out all of IPv4.
    return { text, list, holdsIpv4: !isV6 || prefixBits >= MAPPED_PREFIX_BITS };
  });
  return {
    deniedBy(address) {
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      const bare = address.replace(/%.*$/, '');
      const holding = lists.find(
        ({ list, holdsIpv4 }) => (family === 'ipv6' || holdsIpv4) && list.check(bare, family),
      );
      return holding?.text ?? null;
    },
  };
}

/** Told by the code of the error, never by its text. */
export const DENIED_CODE = 'VEDETTE_DENIED';

class DeniedError extends Error {
  readonly code = DENIED_CODE;
}

function denied(hostname: string, address: string, network: string): DeniedError {
  const where = hostname === address ? address : `${hostname} (${address})`;
  return new DeniedError(`${where} may not be reached: DELIVERY_DENY shuts out ${network}`);
}

/**
 * For an address that stands in a URL itself, which no look-up is made for.
 *
 * @throws an Error with the code DENIED_CODE
 */
export function refuseDenied(hostname: string, rules: AddressRules): void {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0) return;
  const network = rules.deniedBy(bare);
  if (network !== null) throw denied(bare, bare, network);
}

/** A look-up for sockets that gives no denied address: what is connected to is what was judged. */
export function guardedLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const free = addresses.filter(({ address }) => rules.deniedBy(address) === null);
      const [first] = free;
      if (first === undefined) {
        const address = addresses[0]?.address ?? hostname;
        callback(denied(hostname, address, rules.deniedBy(address) ?? 'it'), []);
      } else if (options.all === true) {
        callback(null, free);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
