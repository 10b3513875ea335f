/**
 * The worker thread that runs users' expressions. V8 can interrupt a regular expression only inside
 * a `vm` script with a timeout, which also interrupts JSONPath.
 */
import { createContext, Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { systemCodeOf } from '../../runtime/errors.ts';
import {
  evaluateAssertion,
  type Outcome,
  type ParsedJson,
  parseJson,
} from './evaluate-assertion.ts';
import { jsonProblem } from './json-size.ts';
import type { WorkerReply, WorkerStart, WorkerStep } from './worker-protocol.ts';

const { running } = workerData as WorkerStart;

let text = '';
let parsed: ParsedJson | null = null;
let current: (() => void) | null = null;

const script = new Script('run()');
const context = createContext({ run: () => current?.() });

function parse(): ParsedJson {
  if (parsed === null) {
    const problem = jsonProblem(text);
    parsed = problem === null ? parseJson(text) : { ok: false, problem };
  }
  return parsed;
}

function evaluate({ step, assertion, kind, expression, limitMs }: WorkerStep): Outcome | null {
  let outcome: Outcome | null = null;
  // Parsing the document does not count towards the time limit of the expression.
  if (kind === 'json-text') parse();
  current = () => {
    const input =
      kind === 'text'
        ? ({ kind, text, pattern: expression } as const)
        : ({ kind, text, path: expression } as const);
    outcome = evaluateAssertion(assertion, input, parse);
  };
  Atomics.store(running, 0, step);
  try {
    script.runInContext(context, { timeout: limitMs });
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
    outcome = null;
  } finally {
    Atomics.store(running, 0, 0);
    current = null;
  }
  return outcome;
}

parentPort?.on('message', (message: WorkerStep) => {
  if (message.text !== null) {
    text = message.text;
    parsed = null;
  }
  const reply: WorkerReply = { step: message.step, outcome: evaluate(message) };
  parentPort?.postMessage(reply);
});
