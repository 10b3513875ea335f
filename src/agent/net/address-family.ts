import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { FamilyChoice } from '../../model/enums.ts';

export interface InterfaceAddress {
  readonly family: string;
  readonly internal: boolean;
  readonly address: string;
}

/**
 * Whether this machine has IPv6 beyond itself and its own links: a global or unique local address
 * on any interface. Checks each time, since networks change while the agent runs.
 */
export function hostHasIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.some(reachesOut);
}

/** An IPv6 address other than the loopback's and the link-local ones (RFC 4291 2.5.6). */
export function reachesOut({ family, internal, address }: InterfaceAddress): boolean {
  return family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address);
}

/** Link-local addresses and the loopback's: also reachable on a machine without other IPv6. */
const NEAR = /^(fe[89ab][0-9a-f]:|::1$)/i;

export function isNear(address: string): boolean {
  return NEAR.test(address);
}

/** The family of one connection; a check with BOTH makes one connection for each family. */
export type SoughtFamily = Exclude<FamilyChoice, 'BOTH'>;

/** ANY for BOTH: a caller that needs only one connection accepts either family. */
export function soughtFamily(choice: FamilyChoice): SoughtFamily {
  return choice === 'BOTH' ? 'ANY' : choice;
}

/**
 * The family for a connection to a target: the requested one, except that an IPv6 address can only
 * be reached over IPv6, whatever the default is.
 *
 * @param hostname without brackets
 */
export function familyFor<Requested extends SoughtFamily>(
  hostname: string,
  requested: Requested,
): Requested | 'IPv6' {
  return isIPv6(hostname) ? 'IPv6' : requested;
}
