import { BlockList, isIPv6 } from 'node:net';
import { embeddedIpv4 } from './embedded-ipv4.ts';

/** Says whether an address may be reached at all (TARGET_DENY, DELIVERY_DENY). */
export interface AddressGuard {
  /** Whether it denies anything, so that every address has to be known before it is reached. */
  readonly isActive: boolean;
  /** The denied network that holds the address, as it was configured; null where it is free. */
  deniedBy(address: string): string | null;
}

export const allowAll: AddressGuard = { isActive: false, deniedBy: () => null };

/** A network as it was configured: an address with a prefix length in bits. */
export interface Network {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** In ::ffff:0:0/96 IPv6 writes the addresses of IPv4 (RFC 4291 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;

/**
 * IPv4 networks also shut out the same addresses written as IPv4-mapped IPv6, and vice versa, and
 * the IPv6 addresses by which a translator or tunnel (NAT64, 6to4, …) would lead to them.
 */
export function denyNetworks(networks: readonly Network[]): AddressGuard {
  const lists = networks.map(({ text, address, prefixBits }) => {
    const list = new BlockList();
    const isV6 = isIPv6(address);
    list.addSubnet(address, prefixBits, isV6 ? 'ipv6' : 'ipv4');
    // A BlockList takes every IPv4 address for a mapped one: ::/0 would shut out all of IPv4.
    return { text, list, holdsIpv4: !isV6 || prefixBits >= MAPPED_PREFIX_BITS };
  });
  const holderOf = (address: string, family: 'ipv4' | 'ipv6'): string | null =>
    lists.find(
      ({ list, holdsIpv4 }) => (family === 'ipv6' || holdsIpv4) && list.check(address, family),
    )?.text ?? null;
  return {
    isActive: lists.length > 0,
    deniedBy(address) {
      if (!isIPv6(address)) return holderOf(address, 'ipv4');
      const bare = address.replace(/%.*$/, '');
      const holder = holderOf(bare, 'ipv6');
      if (holder !== null) return holder;
      const holders = embeddedIpv4(bare).map((inside) => holderOf(inside, 'ipv4'));
      return holders.find((inside) => inside !== null) ?? null;
    },
  };
}
