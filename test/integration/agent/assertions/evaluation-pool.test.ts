import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  EvaluationPool,
  type PoolOptions,
  type PoolReply,
  type PoolStep,
} from '../../../../src/agent/assertions/evaluation-pool.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';

const DIST = new URL('../../../../dist/agent/assertions/', import.meta.url);
const NEVER = new AbortController().signal;
const BOMB_TEXT = `${'a'.repeat(60)}!`;
/** Goes to the slow lane directly. */
const LARGE_TEXT = 'a'.repeat(1024 * 1024 + 1);
/** CPU time that each thread has from the start. */
const STARTED_MS = 12;

/** A worker that begins expressions and never ends them, or that parses without an end. */
const STUCK_WORKER = `
  import { appendFileSync } from 'node:fs';
  import { parentPort, workerData } from 'node:worker_threads';
  const { running, schedstat } = workerData;
  parentPort.postMessage({ schedstat });
  parentPort.on('message', ({ expression, limitMs }) => {
    Atomics.store(running, 1, limitMs);
    Atomics.store(running, 0, expression === 'parses' ? 0 : 1);
    appendFileSync(schedstat + '.begun', '.');
  });`;

/** A pool with a fake clock. The test sets the CPU time of its threads. */
function setUp(options: Partial<PoolOptions> = {}) {
  const clock = new FakeClock();
  const schedstat = join(makeTestFolder(), 'schedstat');
  const setCpuMs = (ms: number): void => writeFileSync(schedstat, `${ms * 1e6} 0 1\n`);
  setCpuMs(STARTED_MS);
  const workerUrl = new URL('evaluation-worker.js', DIST);
  const pool = new EvaluationPool({ clock, workerUrl, limitMs: 10, schedstat, ...options });
  onTestFinished(() => pool.close());
  return { clock, pool, schedstat, setCpuMs };
}

function stepOf(expression: string, text = BOMB_TEXT): PoolStep {
  const assertion = { property: expression, comparison: 'NOT_NULL', target: '', regex: null };
  return {
    assertion: { ...assertion, source: 'TEXT_BODY' } as PoolStep['assertion'],
    kind: 'text',
    expression,
    text,
  };
}

async function repliesTo(pool: EvaluationPool, ...steps: PoolStep[]): Promise<PoolReply[]> {
  return [...(await pool.evaluateAll(steps, NEVER)).values()];
}

/** A pool whose worker has begun a step that never ends; `ended` has the reply. */
async function startStuck(expression: 'begins' | 'parses') {
  const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(STUCK_WORKER)}`);
  const { clock, pool, schedstat, setCpuMs } = setUp({ workerUrl, limitMs: 100 });
  const replies: PoolReply[] = [];
  const ended = repliesTo(pool, stepOf(expression, LARGE_TEXT)).then((all) => {
    replies.push(...all);
  });
  const begun = `${schedstat}.begun`;
  // The file exists before its content.
  await eventually(() => existsSync(begun) && readFileSync(begun, 'utf8') === '.');
  await settle();
  return { clock, setCpuMs, replies, ended };
}

it('does not refuse an expression because it lacked CPU before', async () => {
  const { clock, pool } = setUp();
  const bomb = stepOf('^(a+)+$');
  const lackedCpu = { kind: 'too-slow', hadItsTime: false };
  expect(await repliesTo(pool, bomb)).toEqual([lackedCpu]);
  const first = repliesTo(pool, bomb);
  const second = repliesTo(pool, bomb);
  await clock.stall(3000);
  expect([await first, await second]).toEqual([[lackedCpu], [lackedCpu]]);
});

it.each([
  ['lacked it if the worker was short of it', 0, false],
  ['had it if the worker was busy with others', 20_000, true],
])('an expression that waited too long for CPU time %s', async (_what, usedMs, hadItsTime) => {
  const { clock, pool, setCpuMs } = setUp();
  const bombs = [1, 2, 3].map((n) => stepOf(`^(a+)+${n}$`));
  const replies = repliesTo(pool, ...bombs);
  setCpuMs(STARTED_MS + usedMs);
  await clock.stall(11_000);
  expect(await replies).toEqual(bombs.map(() => ({ kind: 'crowded', hadItsTime })));
});

it('ends a worker that cannot be interrupted once the expression has had its CPU time', async () => {
  const { clock, setCpuMs, replies, ended } = await startStuck('begins');
  await clock.advance(400);
  // It gets its CPU late.
  expect(replies).toEqual([]);
  setCpuMs(STARTED_MS + 100);
  await clock.advance(200);
  await ended;
  expect(replies).toEqual([{ kind: 'too-slow', hadItsTime: true }]);
});

it('ends a worker that gets no CPU at the longest time of an expression', async () => {
  const { clock, replies, ended } = await startStuck('begins');
  await clock.advance(4100);
  expect(replies).toEqual([]);
  await clock.advance(100);
  await ended;
  expect(replies).toEqual([{ kind: 'too-slow', hadItsTime: false }]);
});

it.each([
  ['lacked CPU if its worker got little', 1000, false],
  ['had its CPU time if its worker got it', 59_000, true],
])('a step that takes a minute %s', async (_what, usedMs, hadItsTime) => {
  const { clock, setCpuMs, replies, ended } = await startStuck('parses');
  await clock.advance(200);
  setCpuMs(STARTED_MS + usedMs);
  await clock.advance(59_800);
  expect(replies).toEqual([]);
  await clock.advance(200);
  await ended;
  expect(replies).toEqual([{ kind: 'too-slow', hadItsTime }]);
  expect(clock.pendingTimers).toBe(0);
});
