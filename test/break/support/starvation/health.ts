import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { quantile } from '../../../bench/row.ts';
import type { StarvedAgent } from './fixture.ts';

const PAUSE_MS = 2_000;
const PATHS = ['/-/liveness', '/metrics'];

/** Answers of an agent's health port. */
export interface HealthAnswers {
  /** Median and longest response time of the ones so far, milliseconds. */
  timesMs(): readonly [median: number, longest: number];
  /** Sentences: requests without a response in time. */
  readonly failures: readonly string[];
  /** No further requests; the current one is abandoned. */
  stop(): Promise<void>;
}

/** Asks liveness and metrics in turn, until stopped or until the test ends. */
export function askHealth(agent: StarvedAgent): HealthAnswers {
  const stopping = new AbortController();
  const timesMs: number[] = [];
  const failures: string[] = [];
  const { signal } = stopping;
  const ask = async (): Promise<void> => {
    for (let asked = 0; !signal.aborted; asked += 1) {
      const path = PATHS[asked % PATHS.length] ?? '';
      const sentMs = performance.now();
      try {
        if ((await agent.ask(path, signal)) === '') failures.push(`${path} has an empty response`);
        timesMs.push(performance.now() - sentMs);
        await pause(PAUSE_MS, null, { signal });
      } catch (cause) {
        if (signal.aborted) return;
        failures.push(`${path} did not respond: ${cause}`);
        return;
      }
    }
  };
  const ended = ask();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  onTestFinished(stop);
  return {
    timesMs: () => [Math.round(quantile(timesMs, 0.5)), Math.round(quantile(timesMs, 1))],
    failures,
    stop,
  };
}
