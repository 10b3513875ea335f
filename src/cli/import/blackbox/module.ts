import type { Draft } from '../common/draft.ts';
import { mappingOf, NOTHING_NEEDED, reportOthers, textOf } from '../common/fields.ts';
import { durationMs } from '../common/periods.ts';
import { hostAndPort } from '../common/probe.ts';
import { below, type Origin } from '../common/source-file.ts';
import { dnsModule } from './dns-module.ts';
import { httpModule } from './http-module.ts';
import { familyOf, type ModuleReader, SHARED_REASONS, type TargetProbe } from './module-parts.ts';
import { tcpModule } from './tcp-module.ts';

export interface ProbeModule {
  readonly timeoutMs: number | null;
  readonly probeOf: TargetProbe;
}

/**
 * Reads one of `modules`. Reports what a check cannot do only once, however many targets there are.
 *
 * @returns null if no check can do what the module does, which is reported
 */
export function readModule(
  name: string,
  raw: unknown,
  origin: Origin,
  draft: Draft,
): ProbeModule | null {
  const module = mappingOf(raw);
  const prober = textOf(module.prober) ?? '';
  const readers: Readonly<Record<string, ModuleReader>> = {
    http: httpModule,
    tcp: tcpModule,
    dns: dnsModule,
    icmp: icmpModule,
  };
  const reader = Object.hasOwn(readers, prober) ? readers[prober] : undefined;
  if (reader === undefined) {
    const why = `no type of check does what the prober ${JSON.stringify(prober.slice(0, 40))} does`;
    draft.report.leftOut(origin, why, ADVICE[prober] ?? 'write the check by hand');
    return null;
  }
  reportOthers(module, origin, draft.report, {
    handled: ['prober', 'timeout', 'http', 'tcp', 'dns', 'icmp', 'grpc', 'websocket', 'unix'],
    reasons: {},
  });
  const context = { name, origin: below(origin, prober), draft };
  const probeOf = reader(mappingOf(module[prober]), context);
  return probeOf === null ? null : { timeoutMs: durationMs(module.timeout), probeOf };
}

/** Advice for probers without a corresponding type of check. */
const ADVICE: Readonly<Record<string, string>> = {
  grpc: 'a TCP check can at least see that the port is open',
  websocket:
    'an API check of its URL sees that the server answers; a TCP check, that the port is open',
  unix: 'let a script on that machine ping a heartbeat',
};

const icmpModule: ModuleReader = (section, { origin, draft }) => {
  reportOthers(section, origin, draft.report, {
    handled: ['preferred_ip_protocol', 'ip_protocol_fallback'],
    reasons: {
      ...SHARED_REASONS,
      dont_fragment: ['echo requests of checks have no such flag', 'test the path MTU by hand'],
      payload_size: ['echo requests of checks have 56 data bytes', NOTHING_NEEDED],
      ttl: ['echo requests of checks have the TTL of the system', NOTHING_NEEDED],
    },
  });
  return (target) => {
    const parsed = hostAndPort(target);
    if (parsed === null) return { why: 'its target is not a host or address' };
    const request = { hostname: parsed.hostname, pingCount: 1 };
    return {
      target: { type: 'ICMP', request },
      assertions: [],
      shouldFail: false,
      ipFamily: familyOf(section),
    };
  };
};
