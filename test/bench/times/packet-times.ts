import { groupBy } from '../../../src/runtime/group-by.ts';
import type { Flow } from './wire.ts';

export const TIMES = ['tcp', 'tls', 'firstByte', 'download', 'dns'] as const;
export type Time = (typeof TIMES)[number];
/** Milliseconds. */
export type Times = Readonly<Partial<Record<Time, number>>>;

/** The times of one flow, as a program measured them. */
export interface Reading {
  /** `address:port`. */
  readonly server: string;
  /** Epoch milliseconds: the flow began between them. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly times: Times;
  /** Whether the program says that its times are exact. */
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
 * The errors of the readings, compared with the packets on the wire.
 *
 * @throws Error if a reading has no flow
 */
export function errorsOf(readings: readonly Reading[], flows: readonly Flow[]): Errors {
  const exact = emptyErrors();
  const all = emptyErrors();
  const byServer = groupBy(flows, ({ server }) => server);
  for (const { server, fromMs, toMs, times, isExact } of readings) {
    // Earlier flows may belong to attempts that were repeated.
    const flow = byServer
      .get(server)
      ?.find(({ startMs }) => startMs >= fromMs - ROUNDING_MS && startMs <= toMs + ROUNDING_MS);
    if (flow === undefined) throw new Error(`${server} was measured, but nothing passed the wire`);
    const onTheWire = packetTimes(flow);
    for (const time of TIMES) {
      const measuredMs = times[time];
      if (measuredMs === undefined) continue;
      const errorMs = Math.abs(measuredMs - onTheWire(time));
      if (Number.isNaN(errorMs)) throw new Error(`${server}: the wire did not see its ${time}`);
      all[time].push(errorMs);
      if (isExact) exact[time].push(errorMs);
    }
  }
  return { exact, all };
}

function emptyErrors(): Record<Time, number[]> {
  return { tcp: [], tls: [], firstByte: [], download: [], dns: [] };
}

/** As the client's machine sent and received the packets; NaN for what did not happen. */
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
