import type { CaptureFilter, Capturer } from '../../../src/agent/evidence/capture/capture.ts';
import type { Traced, Tracer, TraceTarget } from '../../../src/agent/evidence/traceroute/tracer.ts';

/** Fakes of the trace and the capture. The real ones need privileges and have system tests. */
export interface StubTracer extends Tracer {
  readonly targets: readonly TraceTarget[];
  /** Running traces. */
  readonly underWay: number;
  /** Ends all held traces. */
  release(): void;
}

/** @param how `held`: each trace waits for `release` or for its signal */
export function stubTracer(
  how: 'at once' | 'held' | 'faulty',
  host: string | null = null,
): StubTracer {
  const targets: TraceTarget[] = [];
  const held = new Set<() => void>();
  return {
    method: 'raw sockets',
    lack: null,
    targets,
    get underWay() {
      return held.size;
    },
    async trace(target, { signal }) {
      targets.push(target);
      if (how === 'faulty') throw new Error('a fault');
      if (how === 'held') {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            held.delete(end);
            signal.removeEventListener('abort', end);
            resolve();
          };
          held.add(end);
          signal.addEventListener('abort', end, { once: true });
          if (signal.aborted) end();
        });
      }
      return tracedTo(target, host);
    },
    release() {
      for (const end of [...held]) end();
    },
    close() {},
  };
}

export interface StubCapturer extends Capturer {
  readonly filters: readonly CaptureFilter[];
  /** Captures that were started and not stopped. */
  readonly open: number;
}

/** A capture of one packet. Waits for `begin` before it listens. */
export function stubCapturer(begin = (): Promise<void> => Promise.resolve()): StubCapturer {
  const filters: CaptureFilter[] = [];
  let open = 0;
  return {
    lack: null,
    filters,
    get open() {
      return open;
    },
    async start(filter) {
      filters.push(filter);
      await begin();
      open += 1;
      return {
        ok: true,
        capture: {
          async stop() {
            open -= 1;
            const bytes = Buffer.from('a capture');
            return { ok: true, captured: { bytes, packets: 1, truncated: false, dropped: 0 } };
          },
        },
      };
    },
  };
}

function tracedTo({ hostname, address }: TraceTarget, host: string | null): Traced {
  const times = { lastMs: 1, avgMs: 1, bestMs: 1, worstMs: 1, stdDevMs: 0 };
  const hop = { hop: 1, address, host, sent: 3, received: 3, lossPercent: 0, ...times };
  const traceroute = {
    hostname,
    resolvedIp: address,
    hops: [hop],
    destinationReached: true,
    truncationReason: null,
  };
  return { ok: true, traceroute };
}
