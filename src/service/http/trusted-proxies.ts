import { BlockList, isIP } from 'node:net';
import { network } from '../../runtime/config/parsers.ts';

/** Whether the peer with this address is a trusted proxy. */
export type TrustsAddress = (address: string | undefined) => boolean;

/** @param proxies networks and addresses of TRUSTED_PROXIES */
export function trustedProxies(proxies: readonly string[]): TrustsAddress {
  const networks = new BlockList();
  for (const text of proxies) {
    const parsed = network(text);
    if (!parsed.ok) continue;
    const { address, prefixBits } = parsed.value;
    networks.addSubnet(address, prefixBits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return (given) => {
    if (proxies.length === 0) return false;
    // Ignores the zone of a link-local address.
    const [address = ''] = (given ?? '').split('%');
    const family = isIP(address);
    return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
