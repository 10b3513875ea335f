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

/** IPv4 networks also shut out the same addresses written as IPv4-mapped IPv6. */
export function denyNetworks(networks: readonly Network[]): AddressGuard {
  const lists = networks.map(({ text, address, prefixBits }) => {
    const list = new BlockList();
    list.addSubnet(address, prefixBits, isIPv6(address) ? 'ipv6' : 'ipv4');
    return { text, list };
  });
  return {
    deniedBy(address) {
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      const bare = address.replace(/%.*$/, '');
      return lists.find(({ list }) => list.check(bare, family))?.text ?? null;
    },
  };
}
