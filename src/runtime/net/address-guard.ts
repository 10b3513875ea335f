import { BlockList, isIPv6 } from 'node:net';
import { embeddedIpv4, mappedIpv4 } from './embedded-ipv4.ts';

/** Whether an address may be reached (TARGET_DENY, DELIVERY_DENY). */
export interface AddressGuard {
  /** Whether it denies anything: then every address must be resolved before connecting. */
  readonly isActive: boolean;
  /** The configured network that contains the address; null if it is allowed. */
  deniedBy(address: string): string | null;
}

export const allowAll: AddressGuard = { isActive: false, deniedBy: () => null };

/** A configured network. */
export interface Network {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** ::ffff:0:0/96 contains the IPv4-mapped addresses (RFC 4291 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;

/**
 * Denies networks. IPv4 networks include the same addresses as IPv4-mapped IPv6, and vice versa, and
 * the IPv6 addresses by which a translator or tunnel (NAT64, 6to4, …) leads to them.
 *
 * @param allowed networks inside them that are not denied; of an IPv6 address that leads to IPv4
 *   ones, all of these or the address itself. An IPv4-mapped address is allowed as the IPv4 one: ::/0
 *   allows none.
 */
export function denyNetworks(
  networks: readonly Network[],
  allowed: readonly Network[] = [],
): AddressGuard {
  const denying = holderIn(networks);
  const allowing = holderIn(allowed);
  const holderOf = (address: string, family: Family): string | null =>
    allowing(address, family) === null ? denying(address, family) : null;
  return {
    isActive: networks.length > 0,
    deniedBy(address) {
      if (!isIPv6(address)) return holderOf(address, 'ipv4');
      const bare = address.replace(/%.*$/, '');
      const mapped = mappedIpv4(bare);
      // Networks of both families may deny it: a BlockList compares it with those of IPv4, too.
      if (mapped !== null) return allowing(mapped, 'ipv4') === null ? denying(bare, 'ipv6') : null;
      if (allowing(bare, 'ipv6') !== null) return null;
      const holder = denying(bare, 'ipv6');
      if (holder !== null) return holder;
      const holders = embeddedIpv4(bare).map((inside) => holderOf(inside, 'ipv4'));
      return holders.find((inside) => inside !== null) ?? null;
    },
  };
}

type Family = 'ipv4' | 'ipv6';

/** Finds the network that contains an address. */
function holderIn(
  networks: readonly Network[],
): (address: string, family: Family) => string | null {
  const lists = networks.map(({ text, address, prefixBits }) => {
    const list = new BlockList();
    const isV6 = isIPv6(address);
    list.addSubnet(address, prefixBits, isV6 ? 'ipv6' : 'ipv4');
    // A BlockList treats every IPv4 address as a mapped one: ::/0 would contain all of IPv4.
    return { text, list, holdsIpv4: !isV6 || prefixBits >= MAPPED_PREFIX_BITS };
  });
  return (address, family) =>
    lists.find(
      ({ list, holdsIpv4 }) => (family === 'ipv6' || holdsIpv4) && list.check(address, family),
    )?.text ?? null;
}
