import { BlockList, isIPv6 } from 'node:net';
import type { Failure } from '../../model/result/error-codes.ts';
import type { AddressGuard } from '../../runtime/net/address-guard.ts';
import { withoutZone } from '../../runtime/net/endpoint-text.ts';
import type { ProbeContext } from '../probes/probe.ts';

export type Addresses = readonly [string, ...string[]];

export type Choice =
  | { readonly ok: true; readonly addresses: Addresses }
  | { readonly ok: false; readonly failure: Failure };

/** With more addresses, each would get too little of the attempt's time. */
const MAX_ADDRESSES = 8;

/**
 * Selects the addresses of a target to try: those that the guard permits, in their order, up to a
 * limit. Fails with ADDRESS_DENIED if the guard permits none. Logs the addresses that it leaves
 * out.
 *
 * @param target how the target is named in messages
 */
export function chooseAddresses(
  target: string,
  addresses: Addresses,
  { guard, log }: Pick<ProbeContext, 'guard' | 'log'>,
): Choice {
  // The usual case: one address, and no rule that could deny it.
  if (!guard.isActive && addresses.length === 1) return { ok: true, addresses };
  const judged = addresses.map((address) => ({ address, network: deniedBy(address, guard) }));
  const denied = judged.filter(({ network }) => network !== null);
  const free = judged.filter(({ network }) => network === null).map(({ address }) => address);

  const deniedText = denied.map(({ address, network }) => `${address} is in ${network}`).join(', ');
  const [first, ...rest] = free.slice(0, MAX_ADDRESSES);
  if (first === undefined) {
    const message = `${target} may not be reached: TARGET_DENY blocks it: ${deniedText}`;
    return { ok: false, failure: { code: 'ADDRESS_DENIED', message } };
  }
  if (denied.length > 0) log.warn(`skipped addresses that TARGET_DENY blocks: ${deniedText}`);
  if (free.length > MAX_ADDRESSES) {
    log.warn(`only the first ${MAX_ADDRESSES} of ${free.length} addresses are tried`);
  }
  return { ok: true, addresses: [first, ...rest] };
}

/** Connecting to an unspecified address (RFC 4291 2.5.2) reaches the machine itself. */
const unspecified = new BlockList();
unspecified.addAddress('0.0.0.0');
unspecified.addAddress('::', 'ipv6');

function deniedBy(address: string, guard: AddressGuard): string | null {
  const isItself = unspecified.check(withoutZone(address), isIPv6(address) ? 'ipv6' : 'ipv4');
  const reached = isItself ? [address, '127.0.0.1', '::1'] : [address];
  return reached.map((one) => guard.deniedBy(one)).find((network) => network !== null) ?? null;
}
