import type { Traceroute } from '../../../model/result/traceroute.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { displayName } from '../../net/dns/message/names.ts';
import { CLASS_IN, TYPE_NUMBERS } from '../../net/dns/message/parameters.ts';
import { askNameServers, type NameServers } from '../../net/dns/system/name-servers.ts';
import { questionOf } from '../../probes/dns/question.ts';
import { JobLog } from '../../probes/job-log.ts';

/** Time limit for the names of all hops, queried at once. */
export const NAMES_LIMIT_MS = 1000;

export interface NameOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly nameServers: () => NameServers;
}

/** Adds the names of the hops that the name servers return in time. */
export async function withNames(traceroute: Traceroute, options: NameOptions): Promise<Traceroute> {
  const addresses = new Set(traceroute.hops.flatMap(({ address }) => address ?? []));
  const names = new Map(
    await Promise.all(
      [...addresses].map(async (address) => [address, await nameOf(address, options)] as const),
    ),
  );
  const hops = traceroute.hops.map((hop) => ({
    ...hop,
    host: names.get(hop.address ?? '') ?? null,
  }));
  return { ...traceroute, hops };
}

/** The owner of an address chooses its name: only valid host names are shown. */
const HOST_NAME = /^(?!-)[\w-]{1,63}(\.[\w-]{1,63})*$/;
const MAX_NAME_CHARS = 253;

async function nameOf(address: string, options: NameOptions): Promise<string | null> {
  const { clock, signal, nameServers } = options;
  const question = questionOf({ query: address, recordType: 'PTR' });
  if (question === null) return null;
  const deadlineMs = Math.min(options.deadlineMs, clock.monotonicMs() + NAMES_LIMIT_MS);
  const answered = await askNameServers(question, nameServers(), {
    clock,
    signal,
    deadlineMs,
    // A router without a name is normal: not logged.
    log: new JobLog(clock),
    protocol: 'UDP',
    authenticData: false,
  });
  if (answered.kind === 'failed') return null;
  // An alias may come before it (RFC 2317).
  const record = answered.message.answers.find(
    ({ type, class: ofClass }) => type === TYPE_NUMBERS.PTR && ofClass === CLASS_IN,
  );
  const name = record === undefined ? '' : displayName(record.data);
  return name.length <= MAX_NAME_CHARS && HOST_NAME.test(name) ? name : null;
}
