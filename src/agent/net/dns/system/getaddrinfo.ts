import { lookup } from 'node:dns/promises';
import { hostname as ownHostname } from 'node:os';
import { messageOf, systemCodeOf } from '../../../../runtime/errors.ts';
import { type Limits, limitedWait } from '../../limited-wait.ts';
import type { Family } from '../../resolver.ts';
import { displayName } from '../message/names.ts';
import type { NameSource } from './nsswitch.ts';
import { foundOrNull, lookupFailure, type SourceResult } from './source-result.ts';

/** getaddrinfo(3), or its replacement in a test. */
export type GetAddresses = (name: string, family: Family) => Promise<readonly string[]>;

export const getaddrinfo: GetAddresses = async (name, family) =>
  (await lookup(name, { family, all: true })).map(({ address }) => address);

/** Each call blocks one of libuv's four threads until the C library returns. */
const MAX_IN_FLIGHT = 2;

/**
 * The C library's own look-up, for the sources of nsswitch.conf that only it can query. A call
 * cannot be cancelled, so at most MAX_IN_FLIGHT run at once; further look-ups wait, and the wait
 * counts toward their time limit. The agent bounds the number of all look-ups, and thereby of the
 * waiting ones.
 */
export class CLibrary {
  readonly #getAddresses: GetAddresses;
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;

  constructor(getAddresses: GetAddresses) {
    this.#getAddresses = getAddresses;
  }

  find(name: string, family: Family, limits: Limits): Promise<SourceResult> {
    const shown = displayName(name);
    const timedOut = (): SourceResult => {
      const message = `The system's other name services (nsswitch.conf) did not find ${shown} in time`;
      return lookupFailure({ code: 'DNS_TIMEOUT', message });
    };
    const cancelled = (): SourceResult => {
      const message = `The look-up of ${shown} was cancelled because the agent stops`;
      return lookupFailure({ code: 'CANCELLED', message });
    };
    return limitedWait<SourceResult>(limits, { timedOut, cancelled }, (settle) => {
      const run = (): void => {
        this.#inFlight += 1;
        this.#getAddresses(name, family)
          .then(
            (addresses) => foundOrNull(addresses) ?? unknownName(shown),
            (error: unknown) => failureOf(error, shown),
          )
          .then(settle)
          .finally(() => this.#release());
      };
      if (this.#inFlight < MAX_IN_FLIGHT) run();
      else this.#waiting.add(run);
      return () => this.#waiting.delete(run);
    });
  }

  #release(): void {
    this.#inFlight -= 1;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}

function unknownName(shown: string): SourceResult {
  const message = `The system's other name services (nsswitch.conf) do not know ${shown}`;
  return lookupFailure({ code: 'DNS_NXDOMAIN', message });
}

function failureOf(error: unknown, shown: string): SourceResult {
  const code = systemCodeOf(error) ?? messageOf(error);
  if (code === 'ENOTFOUND' || code === 'ENODATA') return unknownName(shown);
  const message = `The system's other name services failed for ${shown} (${code})`;
  return lookupFailure({ code: code === 'EAI_AGAIN' ? 'DNS_SERVFAIL' : 'DNS_ERROR', message });
}

/**
 * Whether a source that only the C library can query could know the name, so that a call is worth a
 * thread. `usesStub`: resolv.conf names systemd-resolved's own server, which has then been queried
 * already.
 */
export function mayKnow({ name: source }: NameSource, name: string, usesStub: boolean): boolean {
  const host = displayName(name).toLowerCase();
  if (source === 'files' || source === 'dns') return false;
  if (source.startsWith('mdns')) return host.endsWith('.local');
  if (source === 'resolve') return !usesStub;
  if (source === 'mymachines' || source === 'wins') return !host.includes('.');
  if (source === 'myhostname') {
    return (
      host === ownHostname().toLowerCase() ||
      /^_(gateway|outbound|localdnsstub|localdnsproxy)$/.test(host)
    );
  }
  return true;
}
