/**
 * The worker thread that runs users' expressions. V8 can interrupt a regular expression only inside
 * a `vm` script with a timeout, which also interrupts JSONPath.
 */
import { createContext, Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { systemCodeOf } from '../../runtime/errors.ts';
import { hadCpuTime, sharedPathOf, threadCpuMs } from '../../runtime/process/thread-cpu-time.ts';
import {
  evaluateAssertion,
  type Outcome,
  type ParsedJson,
  parseJson,
} from './evaluate-assertion.ts';
import type { WorkerReady, WorkerReply, WorkerStart, WorkerStep } from './evaluation-protocol.ts';
import { jsonProblem } from './json-size.ts';

const { running, schedstat } = workerData as WorkerStart;

/** The time of the next run, as a multiple of its need with the last run's share of the CPU. */
const SPARES = [1.5, Number.POSITIVE_INFINITY];

let text = '';
let parsed: ParsedJson | null = null;
let current: (() => void) | null = null;
let runs = 0;

const script = new Script('run()');
const context = createContext({ run: () => current?.() });

function parse(): ParsedJson {
  if (parsed === null) {
    const problem = jsonProblem(text);
    parsed = problem === null ? parseJson(text) : { ok: false, problem };
  }
  return parsed;
}

function evaluate(step: WorkerStep): Omit<WorkerReply, 'step'> {
  const { assertion, kind, expression, limitMs, maxMs } = step;
  let outcome: Outcome | null = null;
  // Parsing the document does not count towards the time limit of the expression.
  if (kind === 'json-text') parse();
  current = () => {
    const input =
      kind === 'json-text'
        ? ({ kind, text, path: expression } as const)
        : ({ kind, text, pattern: expression } as const);
    outcome = evaluateAssertion(assertion, input, parse);
  };
  let timeoutMs = limitMs;
  let ran = runWithin(timeoutMs);
  for (const spare of SPARES) {
    if (ran.isOver || hadCpuTime(ran.usedMs, limitMs) !== false || maxMs <= limitMs) break;
    const neededMs = (spare * limitMs ** 2) / Math.max(ran.usedMs, 1);
    timeoutMs = Math.ceil(Math.min(maxMs, neededMs));
    ran = runWithin(timeoutMs);
  }
  current = null;
  const { isOver, usedMs } = ran;
  // A longer run may have had more CPU time than the limit.
  if (isOver && !(timeoutMs > limitMs && usedMs > limitMs)) return { outcome, hadItsTime: null };
  return { outcome: null, hadItsTime: hadCpuTime(usedMs, limitMs) };
}

interface Ran {
  /** False if it was stopped. */
  readonly isOver: boolean;
  /** CPU time; NaN if unknown. */
  readonly usedMs: number;
}

function runWithin(timeoutMs: number): Ran {
  const startMs = threadCpuMs(schedstat);
  runs += 1;
  Atomics.store(running, 1, timeoutMs);
  Atomics.store(running, 0, runs);
  try {
    script.runInContext(context, { timeout: timeoutMs });
    return { isOver: true, usedMs: threadCpuMs(schedstat) - startMs };
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
    return { isOver: false, usedMs: threadCpuMs(schedstat) - startMs };
  } finally {
    Atomics.store(running, 0, 0);
  }
}

const ready: WorkerReady = { schedstat: sharedPathOf(schedstat) };
parentPort?.postMessage(ready);
parentPort?.on('message', (message: WorkerStep) => {
  if (message.text !== null) {
    text = message.text;
    parsed = null;
  }
  const reply: WorkerReply = { step: message.step, ...evaluate(message) };
  parentPort?.postMessage(reply);
});
