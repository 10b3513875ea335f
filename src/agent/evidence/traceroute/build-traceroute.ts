import type { Traceroute, TracerouteHop } from '../../../model/result/traceroute.ts';
import { latencyOf, packetLossPercent } from '../../probes/icmp/statistics.ts';
import { roundToMicroseconds } from '../../probes/probe.ts';
import { type HopAnswer, MAX_TTL, type Observed, type ProbeEnd } from './engine.ts';
import type { TraceTarget } from './tracer.ts';
import { type Unreachable, unreachableText } from './unreachable.ts';

/**
 * The traceroute of src/agent/README.md, "Evidence: traceroute and packet capture", without the
 * names of its hops. After the last hop that answered, it includes only one silent hop.
 * `truncationReason` is one of:
 * - `unreachable: WHAT by ADDRESS`, WHAT with traceroute's mark, `host (!H)`
 * - `no answer after hop N`, and `no answer` if no hop answered
 * - `hop limit`: the last probed hop answered, and is not the destination
 * - `time limit`, `stopped` (the agent stops, or the tracing program was ended)
 */
export function buildTraceroute(
  { hostname, address }: TraceTarget,
  observed: Observed,
): Traceroute {
  const { lastHop, destinationReached, truncationReason } = endOf(observed);
  const hops = observed.hops.slice(0, lastHop).map(hopOf);
  return { hostname, resolvedIp: address, hops, destinationReached, truncationReason };
}

interface RouteEnd {
  readonly lastHop: number;
  readonly destinationReached: boolean;
  readonly truncationReason: string | null;
}

function endOf({ hops, ended }: Observed): RouteEnd {
  const reached = hops.findIndex((ends) => answersOf(ends).some(isDestination)) + 1;
  if (reached > 0) return { lastHop: reached, destinationReached: true, truncationReason: null };
  const refused = hops.findIndex((ends) => refusalIn(ends) !== null) + 1;
  const refusal = refusalIn(hops[refused - 1] ?? []);
  if (refusal !== null) {
    const reason = `unreachable: ${unreachableText(refusal.meaning)} by ${refusal.address}`;
    return { lastHop: refused, destinationReached: false, truncationReason: reason };
  }
  const last = hops.findLastIndex((ends) => answersOf(ends).length > 0) + 1;
  const lastHop = Math.min(hops.length, last + 1);
  return { lastHop, destinationReached: false, truncationReason: silenceReason(last, ended) };
}

function silenceReason(lastAnswering: number, ended: Observed['ended']): string {
  if (ended !== 'complete') return ended;
  if (lastAnswering === MAX_TTL) return 'hop limit';
  return lastAnswering === 0 ? 'no answer' : `no answer after hop ${lastAnswering}`;
}

/** If several routers share a hop, uses the one that answered most often, or first. */
function hopOf(ends: readonly ProbeEnd[], index: number): TracerouteHop {
  const answers = answersOf(ends);
  const rttsMs = answers.map(({ rttMs }) => rttMs);
  const last = rttsMs.at(-1);
  const { avg, min, max, stdDev } = latencyOf(rttsMs);
  return {
    hop: index + 1,
    address: addressOf(answers),
    host: null,
    sent: ends.length,
    received: answers.length,
    lossPercent: packetLossPercent(ends.length, answers.length),
    lastMs: last === undefined ? null : roundToMicroseconds(last),
    avgMs: avg,
    bestMs: min,
    worstMs: max,
    stdDevMs: stdDev,
  };
}

function addressOf(answers: readonly HopAnswer[]): string | null {
  const fromTarget = answers.filter(isDestination);
  const counts = new Map<string, number>();
  for (const { address } of fromTarget.length > 0 ? fromTarget : answers) {
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, countA], [, countB]) => countB - countA);
  return first?.[0] ?? null;
}

function answersOf(ends: readonly ProbeEnd[]): readonly HopAnswer[] {
  return ends.filter((end) => end !== null);
}

function isDestination({ meaning }: HopAnswer): boolean {
  return meaning === 'destination';
}

function refusalIn(
  ends: readonly ProbeEnd[],
): (HopAnswer & { readonly meaning: Unreachable }) | null {
  for (const end of ends) {
    if (end !== null && typeof end.meaning === 'object') return { ...end, meaning: end.meaning };
  }
  return null;
}
