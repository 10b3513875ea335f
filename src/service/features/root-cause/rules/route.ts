import { z } from 'zod';
import type { ReceivedResult } from '../../../../wire/v1/check-result.ts';
import { detailOf } from './subject.ts';
import { countText, durationText, shortened } from './words.ts';

const ms = z.number().nullable().catch(null);

/** SEMANTICS 3, as far as a rule reads it. */
const routeSchema = z.object({
  hostname: z.string(),
  resolvedIp: z.string().nullable().catch(null),
  hops: z
    .array(
      z.object({
        hop: z.number(),
        address: z.string().nullable().catch(null),
        host: z.string().nullable().catch(null),
        lossPercent: z.number().catch(0),
        avgMs: ms,
      }),
    )
    .max(256),
  destinationReached: z.boolean(),
  truncationReason: z.string().nullable().catch(null),
});
export type Route = z.infer<typeof routeSchema>;
type Hop = Route['hops'][number];

/** More than a fluctuation. */
const JUMP_MS = 50;
const LOSS_PERCENT = 20;

/** The trace to the target; null where there is none, or in a form that this build does not know. */
export function routeOf(result: ReceivedResult): Route | null {
  const detail = detailOf(result);
  const parsed = routeSchema.safeParse(detail?.traceroute);
  return parsed.success ? parsed.data : null;
}

/** What the trace tells, in sentences. */
export function routeSentences(route: Route): readonly string[] {
  const answering = route.hops.filter(({ address }) => address !== null);
  const last = answering.at(-1);
  const to = route.resolvedIp === null ? route.hostname : `${route.hostname} (${route.resolvedIp})`;
  if (last === undefined) {
    return [
      `In the trace to ${to} no router answered at all, so the way is likely cut close to the agent, or its packets are filtered.`,
    ];
  }
  const sentences = [arrival(route, to, last)];
  const lossy = lossFrom(answering);
  if (lossy !== null) {
    sentences.push(
      `Packets are lost from ${hopText(lossy)} on, ${Math.round(lossy.lossPercent)} % there, and at every later hop too: the loss likely begins there.`,
    );
  }
  const slow = jumpAt(answering);
  if (slow !== null) {
    sentences.push(
      `The time to answer goes up by ${durationText(slow.byMs)} at ${hopText(slow.hop)} and stays up.`,
    );
  }
  return sentences;
}

function arrival(route: Route, to: string, last: Hop): string {
  const why = route.truncationReason === null ? '' : ` (${shortened(route.truncationReason, 100)})`;
  if (!route.destinationReached) {
    return `The trace to ${to} ends${why} after ${hopText(last)}, the last that answered: what comes after it did not, so the packets are likely dropped there or just behind.`;
  }
  const time = last.avgMs === null ? '' : `, which answers in ${durationText(last.avgMs)}`;
  return `The trace reaches ${to} in ${countText(last.hop, 'hop')}${time}: the way there is open.`;
}

function hopText({ hop, address, host }: Hop): string {
  const name = host === null || host === address ? '' : `${shortened(host, 100)}, `;
  return `hop ${hop} (${name}${address})`;
}

/** Routers may answer less than they pass on: only loss that goes on to the end is loss. */
function lossFrom(hops: readonly Hop[]): Hop | null {
  const firstOfTail = hops.findLastIndex(({ lossPercent }) => lossPercent < LOSS_PERCENT) + 1;
  return hops[firstOfTail] ?? null;
}

function jumpAt(hops: readonly Hop[]): { readonly hop: Hop; readonly byMs: number } | null {
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
