import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import {
  openStarvationSources,
  StarvationMeter,
} from '../../../../src/agent/run/starvation/starvation.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { holdLoop } from '../../../support/process/held-loop.ts';

const HOLDS = 20;
/** Each is too short to be sure to make a timer late. */
const HOLD_MS = 15;

it("work that blocks the event loop for short times makes an attempt's times uncertain", async () => {
  const meter = new StarvationMeter(systemClock, await openStarvationSources());
  onTestFinished(() => meter.close());
  const attempt = meter.begin();
  onTestFinished(() => meter.end());
  for (let hold = 0; hold < HOLDS; hold += 1) {
    holdLoop(HOLD_MS);
    await nextTurn();
  }
  expect(attempt.uncertainMs).toBeGreaterThanOrEqual((HOLDS - 1) * HOLD_MS);
});
