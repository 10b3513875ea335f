import type { HttpTimingPhases, HttpTimings } from '../../../model/result/details/http-detail.ts';
import { roundToMicroseconds } from '../probe.ts';
import type { Hop } from './hop.ts';

/**
 * The durations of an attempt's phases in milliseconds, summed over its hops. They add up to the
 * total: `wait` is all the time that belongs to no other phase. A phase that was interrupted has
 * the time until then.
 *
 * @param startMs monotonic instant of the attempt's start, later by the unseen time of its hops
 */
export function httpTimingPhases(
  hops: readonly Hop[],
  startMs: number,
  endMs: number,
): HttpTimingPhases {
  const dns = sum(hops, ({ dnsMs }) => dnsMs);
  const tcp = sum(hops, ({ tcpMs }) => tcpMs);
  const tls = sum(hops, ({ tlsMs }) => tlsMs);
  const firstByte = sum(hops, ({ exchange }) =>
    exchange === null ? 0 : (exchange.firstByteMs ?? exchange.endMs) - exchange.sentMs,
  );
  const download = sum(hops, ({ exchange }) =>
    exchange === null || exchange.firstByteMs === null ? 0 : exchange.endMs - exchange.firstByteMs,
  );
  const busy = dns + tcp + tls + firstByte + download;
  const wait = Math.max(0, roundToMicroseconds(endMs - startMs - busy));
  return { wait, dns, tcp, tls, firstByte, download, total: roundToMicroseconds(wait + busy) };
}

/** When the phases of the last hop ended, milliseconds since `startMs`, as in httpTimingPhases. */
export function timingsOf(hop: Hop, startMs: number): HttpTimings {
  const { exchange, reached } = hop;
  const at = (instantMs: number | null | undefined): number | null =>
    instantMs === null || instantMs === undefined ? null : roundToMicroseconds(instantMs - startMs);
  const lookupMs = hop.startMs + hop.dnsMs;
  const connectMs = lookupMs + hop.tcpMs;
  return {
    socket: at(hop.startMs),
    lookup: reached === 'nothing' ? null : at(lookupMs),
    connect: reached === 'connect' || reached === 'secureConnect' ? at(connectMs) : null,
    secureConnect: reached === 'secureConnect' ? at(connectMs + hop.tlsMs) : null,
    response: at(exchange?.firstByteMs),
    end: exchange !== null && exchange.ending === null ? at(exchange.endMs) : null,
  };
}

function sum(hops: readonly Hop[], durationOf: (hop: Hop) => number): number {
  return roundToMicroseconds(hops.reduce((total, hop) => total + durationOf(hop), 0));
}
