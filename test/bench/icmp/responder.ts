import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { NetworkNamespace } from '../../support/network/network-namespace.ts';

const RESPONDER = join(import.meta.dirname, '../drivers/icmp-responder.mjs');
const DEVICE = 'bench0';
const SHORTEST_HOLD_MS = 5;
const LONGEST_HOLD_MS = 50;

export type RttsMs = ReadonlyMap<string, readonly number[]>;

/** Targets behind a TUN device, each with a delay of its own. */
export interface Responder {
  readonly addresses: readonly string[];
  /**
   * How far the round trips differ from those that the kernel saw at the device, for all echoes
   * since the last call. Milliseconds, never negative.
   *
   * @throws Error if there were other echoes than these
   */
  errorsMs(rttsMs: RttsMs): Promise<readonly number[]>;
}

export async function withResponder<Value>(
  namespace: NetworkNamespace,
  targets: number,
  work: (responder: Responder) => Promise<Value>,
): Promise<Value> {
  const addresses = Array.from({ length: targets }, (_, n) => `10.77.${1 + (n >> 8)}.${n & 255}`);
  const stepMs = (LONGEST_HOLD_MS - SHORTEST_HOLD_MS) / targets;
  const holds = addresses.map((address, n) => [address, SHORTEST_HOLD_MS + n * stepMs]);
  const child = namespace.start(
    process.execPath,
    RESPONDER,
    DEVICE,
    JSON.stringify(Object.fromEntries(holds)),
  );
  const ended = once(child, 'close');
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error('the responder of the echoes ended');
    return next.value;
  };
  try {
    await nextLine();
    namespace.run('ip', 'link', 'set', DEVICE, 'up', 'txqueuelen', '10000');
    namespace.run('ip', 'address', 'add', '10.77.0.1/16', 'dev', DEVICE);
    return await work({
      addresses,
      async errorsMs(rttsMs) {
        child.stdin.write('\n');
        const rtts = JSON.parse(await nextLine()) as Record<string, readonly number[]>;
        return [...rttsMs].flatMap(([address, measured]) => {
          const tookMs = rtts[address] ?? [];
          if (tookMs.length === measured.length) {
            return measured.map((rttMs, n) => Math.abs(rttMs - (tookMs[n] ?? Number.NaN)));
          }
          throw new Error(
            `${address} was asked ${tookMs.length} times and measured ${measured.length} times`,
          );
        });
      },
    });
  } finally {
    child.kill();
    await ended;
  }
}
