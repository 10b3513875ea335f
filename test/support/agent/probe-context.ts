import { isIP } from 'node:net';
import type { Resolution, Resolver } from '../../../src/agent/net/resolver.ts';
import type { StarvationWatch } from '../../../src/agent/net/starvation-watch.ts';
import type { DnsProbeOptions } from '../../../src/agent/probes/dns/probe.ts';
import { JobLog } from '../../../src/agent/probes/job-log.ts';
import type { ProbeContext } from '../../../src/agent/probes/probe.ts';
import { NOT_SCRUBBED } from '../../../src/agent/secrets/cut-scrubbed.ts';
import {
  NO_OPERATOR_SECRETS,
  type OperatorSecrets,
} from '../../../src/agent/secrets/operator-secrets.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { type AddressGuard, allowAll } from '../../../src/runtime/net/address-guard.ts';

export interface ContextOptions {
  /** From now; 10 s by default. */
  readonly deadlineInMs?: number;
  readonly resolver?: Resolver;
  readonly guard?: AddressGuard;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly operatorSecrets?: OperatorSecrets;
  readonly starvation?: StarvationWatch;
}

/** A probe's context, with a resolver that needs no name server. */
export function makeContext(options: ContextOptions = {}): ProbeContext {
  const clock = options.clock ?? systemClock;
  return {
    signal: options.signal ?? new AbortController().signal,
    clock,
    deadlineMs: clock.monotonicMs() + (options.deadlineInMs ?? 10_000),
    resolver: options.resolver ?? loopbackResolver,
    guard: options.guard ?? allowAll,
    log: new JobLog(clock),
    operatorSecrets: options.operatorSecrets ?? NO_OPERATOR_SECRETS,
    scrub: NOT_SCRUBBED,
    starvation: options.starvation,
  };
}

/** The options of a DNS probe of a location without a proxy and client certificates. */
export const NO_ROUTE: Omit<DnsProbeOptions, 'nameServers'> = {
  proxyUrl: () => null,
  clientCertificates: () => [],
};

/** The messages of the job log, one a line. */
export function logText(context: ProbeContext): string {
  return context.log
    .entries()
    .map(({ msg }) => msg)
    .join('\n');
}

/**
 * Answers from a table of names and addresses, like a system's resolver: returns literals
 * unchanged, DNS_NXDOMAIN for unknown names and DNS_NO_ADDRESS for names that have only the other
 * family.
 */
export function staticResolver(names: Readonly<Record<string, readonly string[]>>): Resolver {
  return resolverOf((hostname) => names[hostname] ?? null);
}

/** `localhost` and every name below `.test` are 127.0.0.1 and ::1; nothing else exists. */
export const loopbackResolver: Resolver = resolverOf((hostname) =>
  hostname === 'localhost' || hostname.endsWith('.test') ? ['127.0.0.1', '::1'] : null,
);

function resolverOf(addressesOf: (hostname: string) => readonly string[] | null): Resolver {
  return {
    resolve(hostname, family): Promise<Resolution> {
      const known = isIP(hostname) === 0 ? addressesOf(hostname.toLowerCase()) : [hostname];
      if (known === null) {
        const message = `${hostname} does not exist`;
        return Promise.resolve({ ok: false, failure: { code: 'DNS_NXDOMAIN', message } });
      }
      const [first, ...rest] = known.filter((address) => isIP(address) === family);
      if (first === undefined) {
        const message = `${hostname} has no IPv${family} address`;
        return Promise.resolve({ ok: false, failure: { code: 'DNS_NO_ADDRESS', message } });
      }
      return Promise.resolve({ ok: true, addresses: [first, ...rest] });
    },
  };
}
