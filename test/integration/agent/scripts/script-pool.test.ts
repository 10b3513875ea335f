import { describe, expect, it, onTestFinished } from 'vitest';
import { createScriptPool, type ScriptPool } from '../../../../src/agent/scripts/script-pool.ts';
import type { ScriptInput } from '../../../../src/agent/scripts/script-protocol.ts';
import type { ScriptHost, ScriptJob } from '../../../../src/agent/scripts/script-thread.ts';
import type { CancelTimer } from '../../../../src/runtime/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Ends its script when the test allows it, and notifies the test, by two shared numbers. */
const WORKER = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ input: { numbers } }) => {
    Atomics.wait(numbers, 0, 0);
    const result = { request: null, variables: [] };
    parentPort.postMessage({ kind: 'ended', end: { kind: 'passed', result } });
    Atomics.store(numbers, 1, 1);
    Atomics.notify(numbers, 1);
  });
  parentPort.postMessage({ kind: 'ready' });
`;

/** Bounds a wait of this thread that would otherwise hang a broken test. */
const MAX_WAIT_MS = 20_000;

/** Sends the messages that its script consists of. */
const TELLING_WORKER = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ input }) => {
    for (const message of input.messages) parentPort.postMessage(message);
  });
  parentPort.postMessage({ kind: 'ready' });
`;
const SECRET = { kind: 'secret', value: 'a value of the script' };
const ENDED = {
  kind: 'ended',
  end: { kind: 'passed', result: { request: null, variables: [] } },
};

const HOST: ScriptHost = {
  log: () => {},
  learn: async () => {},
  fetch: async () => ({ ok: false, problem: 'there is no network' }),
};

/** Its timers end only by the test. */
class HeldClock extends FakeClock {
  readonly timers: (() => void)[] = [];

  override after(_delayMs: number, callback: () => void): CancelTimer {
    this.timers.push(callback);
    return () => {};
  }
}

function poolOf(clock: FakeClock, onNoWorker = (): void => {}, worker = WORKER): ScriptPool {
  const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(worker)}`);
  const pool = createScriptPool({ clock, workerUrl, workers: 1, onNoWorker });
  onTestFinished(() => pool.close());
  return pool;
}

/** A script of the worker above, and how to let it end. */
function scriptOf(onStart = (): void => {}) {
  const numbers = new Int32Array(new SharedArrayBuffer(8));
  const job: ScriptJob = {
    source: '',
    fileName: 'setup.js',
    input: { numbers } as unknown as ScriptInput,
    limitMs: 10_000,
    signal: new AbortController().signal,
    onStart,
  };
  const end = (): void => {
    Atomics.store(numbers, 0, 1);
    Atomics.notify(numbers, 0);
  };
  return { job, numbers, end };
}

function tellingJob(messages: readonly unknown[]): ScriptJob {
  const { job } = scriptOf();
  return { ...job, input: { messages } as unknown as ScriptInput };
}

it('a script whose end came while the agent stood still has not run out of time', async () => {
  const clock = new HeldClock();
  const pool = poolOf(clock);
  const { job, numbers, end } = scriptOf();
  const outcome = pool.run(job, HOST);
  await eventually(() => clock.timers.length === 1);
  // This thread reads nothing until the worker has sent the end. Its timer then fires first.
  end();
  expect(Atomics.wait(numbers, 1, 0, MAX_WAIT_MS)).not.toBe('timed-out');
  clock.timers[0]?.();
  expect((await outcome).kind).toBe('passed');
});

it('a script that no worker takes within 30 s is reported, and not run', async () => {
  const clock = new FakeClock();
  let noWorker = 0;
  const pool = poolOf(clock, () => {
    noWorker += 1;
  });
  let isStarted = false;
  const first = scriptOf(() => {
    isStarted = true;
  });
  const busy = pool.run({ ...first.job, limitMs: 60_000 }, HOST);
  await eventually(() => isStarted);
  const second = pool.run(scriptOf().job, HOST);
  await clock.advance(30_000);
  expect(await second).toEqual({ kind: 'no-worker' });
  expect(noWorker).toBe(1);
  first.end();
  expect((await busy).kind).toBe('passed');
});

describe('a script whose host fails', () => {
  const LINE = { kind: 'log', level: 'info', text: 'After the value. '.repeat(100) };
  const FETCH = { kind: 'fetch', id: 1, request: {} };
  const fails = async (): Promise<never> => Promise.reject(new Error('no room for it'));

  it.each([
    ['a value is not masked before a line', { learn: fails }, [SECRET, LINE, ENDED]],
    ['a value is not masked before a request', { learn: fails }, [SECRET, FETCH, FETCH, ENDED]],
    ['a value is not masked at the end', { learn: fails }, [SECRET, ENDED]],
    ['a request has a fault', { fetch: fails }, [FETCH]],
  ] as const)('is broken, and the next one passes: %s', async (_, host, messages) => {
    const lines: string[] = [];
    const log = (_level: string, text: string) => void lines.push(text);
    const pool = poolOf(new FakeClock(), () => {}, TELLING_WORKER);
    const outcome = await pool.run(tellingJob(messages), { ...HOST, log, ...host });
    expect(outcome).toEqual({ kind: 'broken', problem: 'no room for it' });
    expect(lines).toEqual([]);
    const next = await pool.run(tellingJob([SECRET, LINE, ENDED]), { ...HOST, log });
    expect([next.kind, lines.length]).toEqual(['passed', 1]);
  });
});
