import type { Assertion, AssertionResult } from '../../model/check/assertions/assertion.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { OWN_SCHEDSTAT } from '../../runtime/process/thread-cpu-time.ts';
import { NOT_SCRUBBED, type Scrub } from '../secrets/cut-scrubbed.ts';
import {
  type AssertionInput,
  assertionInput,
  type SourceValues,
  sourcePhrase,
} from './assertion-sources.ts';
import {
  evaluateAssertion,
  failedAssertion,
  type Outcome,
  shownOutcome,
  withoutResponse,
  withoutTls,
} from './evaluate-assertion.ts';
import {
  EvaluationPool,
  PATTERN_LIMIT_MS,
  type PoolReply,
  type PoolStep,
} from './evaluation-pool.ts';
import { InlineBudget } from './inline-budget.ts';

export type { SourceValues } from './assertion-sources.ts';

const NO_REPLIES: ReadonlyMap<PoolStep, PoolReply> = new Map();
const CANCELLED: PoolReply = { kind: 'cancelled' };

export interface EvaluatorOptions {
  readonly clock: Clock;
  /** The compiled evaluation-worker.js: worker threads of older Node versions run no TypeScript. */
  readonly workerUrl: URL;
  readonly limitMs?: number;
  /** The file of the kernel with the CPU time of the thread that reads it; for tests. */
  readonly schedstat?: string;
}

export interface EvaluationHooks {
  /**
   * Called if an expression exceeded its time limit or waited too long for a worker.
   *
   * @param hadItsTime it had the limit in CPU time; false also if it waited too long because the
   *   worker was short of CPU; null if that is unknown
   */
  readonly onOutOfTime?: (hadItsTime: boolean | null, assertion: Assertion) => void;
  /** Masks secrets and parts of them in values of the response before a message quotes them. */
  readonly mask?: Scrub;
}

export interface Evaluator {
  /**
   * Returns one result per assertion; `error` is null if it passed. If the signal aborts, returns
   * at once, and the errors of the remaining assertions say that they were not evaluated.
   *
   * @throws VedetteError EVALUATION_WORKER_BROKEN if the worker cannot run: a fault of the agent
   */
  evaluate(
    assertions: readonly Assertion[],
    sources: SourceValues,
    signal: AbortSignal,
    hooks?: EvaluationHooks,
  ): Promise<readonly AssertionResult[]>;
  /** Ends the workers. Evaluations in progress end as if aborted. */
  close(): Promise<void>;
}

/**
 * Evaluates users' assertions without blocking the event loop: cheap expressions on the main
 * thread, those that could take long in workers that stop them at the limit.
 */
export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { clock, workerUrl, limitMs = PATTERN_LIMIT_MS, schedstat = OWN_SCHEDSTAT } = options;
  const pool = new EvaluationPool({ clock, workerUrl, limitMs, schedstat });

  return {
    async evaluate(assertions, sources, signal, hooks = {}) {
      const { onOutOfTime } = hooks;
      const mask = cached(hooks.mask ?? NOT_SCRUBBED);
      const budget = new InlineBudget();
      const evaluations = assertions.map((each) => evaluateInline(each, sources, budget));
      const steps = evaluations.flatMap(({ step }) => step ?? []);
      const replies = steps.length === 0 ? NO_REPLIES : await pool.evaluateAll(steps, signal);
      return evaluations.map(({ assertion, outcome, step }) => {
        const reply = step === null ? CANCELLED : (replies.get(step) ?? CANCELLED);
        if (reply.kind === 'too-slow') onOutOfTime?.(reply.hadItsTime, assertion);
        // It was not run itself, so the starvation of the main thread decides as well.
        if (reply.kind === 'crowded') {
          onOutOfTime?.(reply.hadItsTime === false ? false : null, assertion);
        }
        const shown = shownOutcome(outcome ?? outcomeOf(assertion, reply, limitMs), mask);
        return { ...assertion, ...shown };
      });
    },
    close: () => pool.close(),
  };
}

/** Most assertions show the same text, the body, and masking its start takes about 2 ms. */
function cached(mask: Scrub): Scrub {
  const known = new Map<string, string>();
  return (text) => {
    const masked = known.get(text) ?? mask(text);
    known.set(text, masked);
    return masked;
  };
}

/** An assertion that was evaluated inline, or the step for a worker. */
type Evaluation =
  | { readonly assertion: Assertion; readonly outcome: Outcome; readonly step: null }
  | { readonly assertion: Assertion; readonly outcome: null; readonly step: PoolStep };

function evaluateInline(
  assertion: Assertion,
  sources: SourceValues,
  budget: InlineBudget,
): Evaluation {
  const source = sources[assertion.source];
  if (source === undefined) return { assertion, outcome: withoutResponse(assertion), step: null };
  if (source.kind === 'tls' && source.facts === null) {
    return { assertion, outcome: withoutTls(assertion), step: null };
  }
  const input = assertionInput(assertion, source);
  if (input.kind !== 'value' && !budget.takes(assertion, input)) {
    return { assertion, outcome: null, step: poolStepOf(assertion, input, budget) };
  }
  const outcome = evaluateAssertion(assertion, input, (text) => budget.parse(text));
  return { assertion, outcome, step: null };
}

function poolStepOf(
  assertion: Assertion,
  input: Exclude<AssertionInput, { kind: 'value' }>,
  budget: InlineBudget,
): PoolStep {
  switch (input.kind) {
    case 'text':
    case 'matched-text':
      return { assertion, kind: input.kind, text: input.text, expression: input.pattern };
    case 'json-text':
      return { assertion, kind: 'json-text', text: input.text, expression: input.path };
    case 'json': {
      const text = budget.textOf(input.value);
      return { assertion, kind: 'json-text', text, expression: input.path };
    }
  }
}

function outcomeOf(assertion: Assertion, reply: PoolReply, limitMs: number): Outcome {
  const unfinished = (why: string): Outcome =>
    failedAssertion(`${sourcePhrase(assertion)} could not be evaluated: ${why}`);
  switch (reply.kind) {
    case 'evaluated':
      return reply.outcome;
    case 'too-slow':
      return unfinished(`it took longer than the ${limitMs} ms that are allowed`);
    case 'crowded':
      return unfinished('too many expressions that take long are waiting');
    case 'too-large':
      return unfinished('it needs more memory than is allowed');
    case 'cancelled':
      return unfinished('the run was cut short');
    case 'broken':
      throw new VedetteError(
        'internal',
        'EVALUATION_WORKER_BROKEN',
        `The worker for regular expressions and JSONPath does not run: ${reply.problem}`,
      );
  }
}
