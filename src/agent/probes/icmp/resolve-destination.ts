import { isIP, isIPv6 } from 'node:net';
import type { FamilyChoice } from '../../../model/enums.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import { familyFor, hostHasIpv6, isNear } from '../../net/address-family.ts';
import { notTriedOverIpv6 } from '../../net/connect-failures.ts';
import { chooseAddresses } from '../../net/permitted-addresses.ts';
import type { Family } from '../../net/resolver.ts';
import type { ProbeContext } from '../probe.ts';
import { type Destination, destinationOf } from './address-bytes.ts';

export type ResolvedDestination =
  | { readonly ok: true; readonly destination: Destination; readonly family: Family }
  | { readonly ok: false; readonly failure: Failure };

/**
 * The first address of the target that TARGET_DENY permits. IPv6 on a machine without it falls back
 * to IPv4, unless the target is itself an IPv6 address (src/model/README.md, "ICMP: `request`"), or
 * IPv4 has an attempt of its own.
 *
 * @param ipFamily ANY stands for IPv4 here: an attempt that needs both families is made once for
 *   each of them
 */
export async function resolveDestination(
  hostname: string,
  ipFamily: FamilyChoice,
  context: ProbeContext,
): Promise<ResolvedDestination> {
  const bare = withoutBrackets(hostname);
  const wanted = familyFor(bare, ipFamily === 'IPv6' ? 'IPv6' : 'IPv4');
  const found = await resolveFamily(bare, wanted === 'IPv6' ? 6 : 4, context);
  if (wanted === 'IPv4' || isIPv6(bare) || hostHasIpv6()) return found;
  const near = found.ok && isNear(found.destination.address);
  const canFallBack = found.ok ? !near : found.failure.code === 'DNS_NO_ADDRESS';
  if (!canFallBack) return found;
  if (context.staysInFamily === true) {
    return found.ok ? { ok: false, failure: notTriedOverIpv6(bare) } : found;
  }
  context.log.warn(`this machine has no IPv6: falling back to IPv4 for ${bare}`);
  return await resolveFamily(bare, 4, context);
}

async function resolveFamily(
  hostname: string,
  family: Family,
  context: ProbeContext,
): Promise<ResolvedDestination> {
  const { resolver, clock, log } = context;
  const startMs = clock.monotonicMs();
  const resolution = await resolver.resolve(hostname, family, context);
  if (!resolution.ok) return resolution;
  const { addresses } = resolution;
  if (isIP(hostname) === 0) {
    const tookMs = clock.monotonicMs() - startMs;
    log.info(`${hostname} is ${addresses.join(', ')} (found in ${millisecondsText(tookMs)})`);
  }
  const choice = chooseAddresses(hostname, addresses, context);
  if (!choice.ok) return choice;
  const [address] = choice.addresses;
  const destination = destinationOf(address);
  if (destination === null) {
    const message = `${address} names a network interface that this machine does not have`;
    return { ok: false, failure: { code: 'ICMP_UNREACHABLE', message } };
  }
  return { ok: true, destination, family };
}
