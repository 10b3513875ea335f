import { BlockList, isIPv6 } from 'node:net';

/** Says whether an address may be reached at all (TARGET_DENY). */
export interface AddressGuard {
  /** The denied network that holds the address, as it was configured; null where it is free. */
  deniedBy(address: string): string | null;
}

export const allowAll: AddressGuard = { deniedBy: () => null };

/** One network that TARGET_DENY names: an address with a prefix length in bits. */
export interface Network {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** In ::ffff:0:0/96 IPv6 writes the addresses of IPv4 (RFC 4291 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;

/** IPv4 networks also shut out the same addresses written as IPv4-mapped IPv6, and vice versa. */
export function denyNetworks(networks: readonly Network[]): AddressGuard {
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
      const holds = ({ list, holdsIpv4 }: (typeof lists)[number]): boolean =>
        (family === 'ipv6' || holdsIpv4) && list.check(bare, family);
      return lists.find(holds)?.text ?? null;
    },
  };
}
