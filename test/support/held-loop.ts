import { onTestFinished } from 'vitest';
import { loadKernelSockets } from '../../src/agent/net/kernel/kernel-sockets.ts';
import type { StarvationWatch } from '../../src/agent/net/overtime.ts';
import { type AttemptStarvation, StarvationMeter } from '../../src/agent/run/starvation.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** Holds the event loop, as a process does that gets no CPU. */
export function holdLoop(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/**
 * Calls `begin` and then holds the event loop, before it looks at any socket again: what `begin` has
 * sent is answered long before that is seen. Resolves as `begin` does.
 */
export function beginAndHold<Value>(ms: number, begin: () => Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    // Both in one phase of the loop: promises and ticks run between them, and nothing else does.
    setImmediate(() => void begin().then(resolve, reject));
    setImmediate(() => holdLoop(ms));
  });
}

/** The starvation of an attempt that lasts as long as the test, with the kernel's own sockets. */
export async function realStarvation(): Promise<AttemptStarvation & StarvationWatch> {
  const sockets = await loadKernelSockets();
  const meter = new StarvationMeter(systemClock, { threadDelay: null, sockets });
  onTestFinished(() => meter.close());
  return meter.begin();
}
