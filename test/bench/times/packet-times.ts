import { groupBy } from '../../../src/runtime/group-by.ts';
import type { Flow } from './wire.ts';

export const TIMES = ['tcp', 'tls', 'firstByte', 'download', 'dns'] as const;
export type Time = (typeof TIMES)[number];
/** Milliseconds. */
export type Times = Readonly<Partial<Record<Time, number>>>;

/** What somebody measured of one flow. */
export interface Reading {
  /** `address:port`. */
  readonly place: string;
  /** Epoch milliseconds: the flow began in between. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly times: Times;
  /** Who measured says that its times are exact. */
  readonly isExact: boolean;
}

/** Milliseconds, never negative. */
export interface Errors {
  readonly exact: Readonly<Record<Time, readonly number[]>>;
  readonly all: Readonly<Record<Time, readonly number[]>>;
}

/** Instants of results are whole milliseconds, rounded down. */
const ROUNDING_MS = 1;

/**
 * How far the readings are from what passed the wire.
 *
 * @throws Error where a reading has no flow
 */
export function errorsOf(readings: readonly Reading[], flows: readonly Flow[]): Errors {
  const exact = emptyErrors();
  const all = emptyErrors();
  const byPlace = groupBy(flows, ({ place }) => place);
  for (const { place, fromMs, toMs, times, isExact } of readings) {
    // Before it there may be flows of attempts that were made again.
    const flow = byPlace
      .get(place)
      ?.find(({ startMs }) => startMs >= fromMs - ROUNDING_MS && startMs <= toMs + ROUNDING_MS);
    if (flow === undefined) throw new Error(`${place} was measured, but nothing passed the wire`);
    const onTheWire = packetTimes(flow);
    for (const time of TIMES) {
      const measuredMs = times[time];
      if (measuredMs === undefined) continue;
      const errorMs = Math.abs(measuredMs - onTheWire(time));
      if (Number.isNaN(errorMs)) throw new Error(`${place}: the wire did not see its ${time}`);
      all[time].push(errorMs);
      if (isExact) exact[time].push(errorMs);
    }
  }
  return { exact, all };
}

function emptyErrors(): Record<Time, number[]> {
  return { tcp: [], tls: [], firstByte: [], download: [], dns: [] };
}

/** As the client's machine sent and got it; NaN for what did not take place. */
function packetTimes({ startMs, answerMs, outMs, inMs }: Flow): (time: Time) => number {
  const none = Number.NaN;
  const [firstInMs = none] = inMs;
  const answeredMs = (answerMs ?? none) - startMs;
  return (time) => {
    switch (time) {
      case 'tcp':
      case 'dns':
        return answeredMs;
      case 'tls': {
        // From the ClientHello until the last of the server's flight, which the client answers.
        const replyMs = outMs.find((ms) => ms > firstInMs) ?? none;
        return (inMs.findLast((ms) => ms < replyMs) ?? none) - (outMs[0] ?? none);
      }
      case 'firstByte':
        return firstInMs - (outMs.findLast((ms) => ms < firstInMs) ?? none);
      case 'download':
        return (inMs.at(-1) ?? none) - firstInMs;
    }
  };
}
