import { network } from '../../../runtime/config/parsers.ts';
import {
  type AddressGuard,
  denyNetworks,
  type Network,
} from '../../../runtime/net/address-guard.ts';

/** Everything that is not a public unicast address: the IANA special-purpose registries (RFC 6890). */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/**
 * Anybody can enter the addresses of webhooks, so they must be public, regardless of what accounts may reach.
 *
 * @param denied by the operator in addition (DELIVERY_DENY)
 */
export function publicAddresses(denied: readonly Network[]): AddressGuard {
  const networks = NOT_PUBLIC.flatMap((text) => {
    const parsed = network(text);
    return parsed.ok ? [parsed.value] : [];
  });
  return denyNetworks([...networks, ...denied]);
}
