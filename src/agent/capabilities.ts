import { CHECK_FEATURE_NAMES } from '../model/check/check-features.ts';
import { RUNNABLE_CHECK_TYPES } from '../model/enums.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Capabilities } from '../wire/v1/poll.ts';
import { hostHasIpv6 } from './net/address-family.ts';
import { openTransport } from './probes/icmp/open-transport.ts';
import type { EchoReceiver } from './probes/icmp/ping-transport.ts';

/** Receives nothing: for a test socket that is closed at once. */
const NOBODY: EchoReceiver = { reply() {}, error() {}, broken() {} };

/**
 * The capabilities of this process on this machine: the service assigns only checks that need no
 * others.
 *
 * @param captures whether packets can be captured now: read by each poll
 */
export async function capabilitiesOf(clock: Clock, captures: () => boolean): Promise<Capabilities> {
  const opened = await openTransport(4, clock, NOBODY);
  if (opened.ok) opened.transport.close();
  return {
    types: [...RUNNABLE_CHECK_TYPES],
    ipv6: hostHasIpv6(),
    icmp: opened.ok,
    get capture() {
      return captures();
    },
    trials: true,
    features: [...CHECK_FEATURE_NAMES],
  };
}
