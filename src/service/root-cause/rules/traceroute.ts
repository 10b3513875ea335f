import { detailOf } from '../../../model/result/result-summary.ts';
import type { Traceroute, TracerouteHop } from '../../../model/result/traceroute.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { durationText } from '../../../runtime/text/duration-text.ts';
import { shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';

/** A larger increase is more than a fluctuation. */
const JUMP_MS = 50;
const LOSS_PERCENT = 20;

/** The trace to the target or, where that has no address, to its name server; null for none. */
export function routeOf(result: ReceivedResult): Traceroute | null {
  return detailOf(result)?.traceroute ?? null;
}

/** Sentences about the trace. */
export function routeSentences(route: Traceroute): readonly string[] {
  const answering = route.hops.filter(({ address }) => address !== null);
  const last = answering.at(-1);
  const { hostname, resolvedIp } = route;
  const to = hostname === resolvedIp ? resolvedIp : `${hostname} (${resolvedIp})`;
  if (last === undefined) {
    return [
      `In the trace to ${to} no router answered at all, so the route is likely interrupted close to the agent, or its packets are filtered.`,
    ];
  }
  const sentences = [arrival(route, to, last)];
  const lossy = lossFrom(answering);
  if (lossy !== null) {
    sentences.push(
      `Packets are lost at ${hopText(lossy)} (${Math.round(lossy.lossPercent)} %) and at every later hop: the loss likely begins there.`,
    );
  }
  const slow = jumpAt(answering);
  if (slow !== null) {
    sentences.push(
      `The response time increases by ${durationText(slow.byMs)} at ${hopText(slow.hop)} and stays high.`,
    );
  }
  return sentences;
}

function arrival(route: Traceroute, to: string, last: TracerouteHop): string {
  const why =
    route.truncationReason === null ? '' : ` (${shortenedToChars(route.truncationReason, 100)})`;
  if (!route.destinationReached) {
    return `The trace to ${to} ends${why} after ${hopText(last)}, the last hop that answered: packets are likely dropped there or just behind it.`;
  }
  const time = last.avgMs === null ? '' : `, which answers in ${durationText(last.avgMs)}`;
  return `The trace reaches ${to} in ${countText(last.hop, 'hop')}${time}: the route is open.`;
}

function hopText({ hop, address, host }: TracerouteHop): string {
  const name = host === null || host === address ? '' : `${shortenedToChars(host, 100)}, `;
  return `hop ${hop} (${name}${address})`;
}

/** Finds the hop where loss begins. Routers may limit their own answers: only loss up to the last hop counts. */
function lossFrom(hops: readonly TracerouteHop[]): TracerouteHop | null {
  const firstOfTail = hops.findLastIndex(({ lossPercent }) => lossPercent < LOSS_PERCENT) + 1;
  return hops[firstOfTail] ?? null;
}

function jumpAt(
  hops: readonly TracerouteHop[],
): { readonly hop: TracerouteHop; readonly byMs: number } | null {
  let before = 0;
  for (const [index, hop] of hops.entries()) {
    if (hop.avgMs === null) continue;
    const rest = hops.slice(index).flatMap(({ avgMs }) => (avgMs === null ? [] : [avgMs]));
    const byMs = Math.min(...rest) - before;
    if (byMs >= JUMP_MS) return { hop, byMs };
    before = Math.max(before, hop.avgMs);
  }
  return null;
}
