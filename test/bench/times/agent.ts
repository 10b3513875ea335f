import { setTimeout as delay } from 'node:timers/promises';
import { EXACT_MS } from '../../../src/agent/net/deadline-extension.ts';
import type { Timing } from '../../../src/model/result/details/check-detail.ts';
import type { MissedSlots } from '../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { PERIOD_MS, withLoadedAgent } from '../support/agent.ts';
import { manyChecks } from '../support/many-checks.ts';
import type { Condition, LoadWithConditions } from './conditions.ts';
import { type Cores, onCore } from './cores.ts';
import type { Outcome, Pace } from './measured.ts';
import { errorsOf, type Reading, type Times } from './packet-times.ts';
import { NAME, type Probe, probeOf } from './probes.ts';
import type { Wire } from './wire.ts';

const LOOK_MS = 50;

/** Measures one agent under each condition in turn. */
export function measureAgent(
  wire: Wire,
  { load, conditions }: LoadWithConditions,
  { cores, pace, signal }: { readonly cores: Cores; readonly pace: Pace; signal: AbortSignal },
): Promise<ReadonlyMap<string, Outcome>> {
  const probes = Array.from({ length: load.checks }, (_, n) => probeOf(wire, n));
  const checks = manyChecks(load.checks, (n) => checkOf(probes[n] ?? probeOf(wire, n)));
  let results: CheckResult[] = [];
  let missed: MissedSlots[] = [];
  const onPrinted = (line: string): void => {
    const record = JSON.parse(line) as CheckResult | { readonly missed: MissedSlots };
    if ('missed' in record) missed.push(record.missed);
    else if (record.resultType === 'FINAL') results.push(record);
  };
  const windowOf = async (): Promise<Outcome> => {
    await wire.flows();
    results = [];
    missed = [];
    const fromMs = Date.now();
    await delay(Math.max(pace.windowMs, load.leastWindowMs), undefined, { signal });
    const toMs = Date.now();
    const due = dueBetween(load.checks, load.phaseMsOf, fromMs, toMs);
    const ofWindow = (): CheckResult[] =>
      results.filter(({ checkRunId }) => checkRunId > fromMs && checkRunId <= toMs);
    const missedIn = (): number =>
      missed
        .filter(({ slot, lastSlot }) => slot > fromMs && lastSlot <= toMs)
        .reduce((sum, { count }) => sum + count, 0);
    const untilMs = Date.now() + pace.resultsMs;
    while (ofWindow().length + missedIn() < due && Date.now() < untilMs) {
      await delay(LOOK_MS, undefined, { signal });
    }
    const found = ofWindow();
    const readings = found.map((result) => readingOf(result, probes));
    const errors = errorsOf(readings, await wire.flows());
    const uncertain = readings.filter(({ isExact }) => !isExact).length;
    return { errors, due, missed: due - found.length, uncertain };
  };
  const under = async (condition: Condition, pid: number): Promise<Outcome> => {
    const end = await condition.begin(pid, cores.measured);
    try {
      await delay(pace.settleMs, undefined, { signal });
      return await windowOf();
    } finally {
      await end();
    }
  };
  const env = { NODE_EXTRA_CA_CERTS: wire.caFile };
  const prefix = onCore(cores.measured);
  const { phaseMsOf } = load;
  return withLoadedAgent({ checks, env, prefix, phaseMsOf, onPrinted }, async ({ pid }) => {
    await delay(pace.warmUpMs, undefined, { signal });
    const outcomes = new Map<string, Outcome>();
    for (const condition of conditions) {
      outcomes.set(condition.name, await under(condition, pid));
    }
    return outcomes;
  });
}

function dueBetween(
  checks: number,
  phaseMsOf: (n: number) => number,
  fromMs: number,
  toMs: number,
): number {
  const until = (ms: number, n: number): number => Math.floor((ms - phaseMsOf(n)) / PERIOD_MS);
  return Array.from({ length: checks }, (_, n) => until(toMs, n) - until(fromMs, n)).reduce(
    (sum, slots) => sum + slots,
    0,
  );
}

function checkOf({ kind, hostname, port, server }: Probe): object {
  switch (kind) {
    case 'tcp':
      return { checkType: 'TCP', request: { hostname, port } };
    case 'dns':
      return {
        checkType: 'DNS',
        request: { recordType: 'A', query: NAME, nameServer: hostname, port },
      };
    default:
      return { checkType: 'URL', request: { url: `${kind}://${server}/`, ipFamily: 'IPv4' } };
  }
}

/** @throws Error if the check failed */
function readingOf(result: CheckResult, probes: readonly Probe[]): Reading {
  const { checkId, hasFailures, hasErrors, startedAt, stoppedAt } = result;
  const { server } = probes[Number(checkId.replace('check-', ''))] ?? { server: '' };
  const detail = result.apiCheckResult ?? result.tcpCheckResult ?? result.dnsCheckResult;
  if (hasFailures || hasErrors) throw new Error(`${server} failed: ${detail?.requestError}`);
  const { uncertaintyMs } = detail?.timing ?? ({ uncertaintyMs: Number.NaN } as Timing);
  return {
    server,
    fromMs: Date.parse(startedAt),
    toMs: Date.parse(stoppedAt),
    times: timesOf(result),
    isExact: uncertaintyMs < EXACT_MS,
  };
}

/** The values that a URL check's result contains. */
function timesOf({ apiCheckResult, tcpCheckResult, dnsCheckResult }: CheckResult): Times {
  if (tcpCheckResult !== null) return { tcp: tcpCheckResult.timingPhases.connection };
  if (dnsCheckResult !== null) return { dns: dnsCheckResult.timingPhases.total };
  const response = apiCheckResult?.response ?? null;
  if (response === null) return {};
  const { tcp, tls, firstByte, download } = response.timingPhases;
  return response.tls === null ? { tcp, firstByte, download } : { tcp, tls };
}
