import type { Assertion, AssertionResult } from '../../model/check/assertion.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { NOT_SCRUBBED, type Scrub } from '../secrets/cut-scrubbed.ts';
import { InlineWork } from './inline.ts';
import { failed, judge, type Outcome, shownOutcome, withoutResponse } from './judge.ts';
import { PatternPool, type PoolReply, type PoolStep } from './pattern-pool.ts';
import { type Input, inputOf, type SourceValues, subjectOf } from './sources.ts';

export type { SourceValues } from './sources.ts';

/**
 * How long a user's regular expression or JSONPath may take (src/model/README.md, "Assertions").
 */
const DEFAULT_LIMIT_MS = 100;

const NO_REPLIES: ReadonlyMap<PoolStep, PoolReply> = new Map();
const CANCELLED: PoolReply = { kind: 'cancelled' };

export interface EvaluatorOptions {
  readonly clock: Clock;
  /** The compiled pattern-worker.js: worker threads of older Node versions run no TypeScript. */
  readonly workerUrl: URL;
  readonly limitMs?: number;
}

export interface EvaluationHooks {
  /** Called if an expression was stopped at its time limit, or found no free worker. */
  readonly onOutOfTime?: () => void;
  /** Masks secrets and parts of them in what came of the response, before a message quotes it. */
  readonly mask?: Scrub;
}

export interface Evaluator {
  /**
   * Evaluates all assertions, each to a result with `error` null where it passed. When the signal
   * aborts, it ends at once and what was not evaluated says so in its error.
   *
   * @throws VedetteError PATTERN_WORKER_BROKEN where the worker cannot run: a fault of our own
   */
  evaluate(
    assertions: readonly Assertion[],
    sources: SourceValues,
    signal: AbortSignal,
    hooks?: EvaluationHooks,
  ): Promise<readonly AssertionResult[]>;
  /** Ends the workers. Evaluations still under way end as if aborted. */
  close(): Promise<void>;
}

/**
 * Judges responses by users' assertions without ever being blocked by them. Ordinary expressions
 * are evaluated on the spot; those that could take long go to workers that stop them at the limit.
 */
export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  const pool = new PatternPool({ clock: options.clock, workerUrl: options.workerUrl, limitMs });

  return {
    async evaluate(assertions, sources, signal, hooks = {}) {
      const { onOutOfTime } = hooks;
      const mask = remembering(hooks.mask ?? NOT_SCRUBBED);
      const inline = new InlineWork();
      const plans = assertions.map((assertion) => planOf(assertion, sources, inline));
      const steps = plans.flatMap(({ step }) => step ?? []);
      const replies = steps.length === 0 ? NO_REPLIES : await pool.judgeAll(steps, signal);
      return plans.map(({ assertion, outcome, step }) => {
        const reply = step === null ? CANCELLED : (replies.get(step) ?? CANCELLED);
        if (reply.kind === 'too-slow' || reply.kind === 'crowded') onOutOfTime?.();
        const shown = shownOutcome(outcome ?? outcomeOf(assertion, reply, limitMs), mask);
        return { ...assertion, ...shown };
      });
    },
    close: () => pool.close(),
  };
}

/** Most assertions show the same text, the body, and to mask its start takes about 2 ms. */
function remembering(mask: Scrub): Scrub {
  const known = new Map<string, string>();
  return (text) => {
    const masked = known.get(text) ?? mask(text);
    known.set(text, masked);
    return masked;
  };
}

/** An assertion that was evaluated on the spot, or else what a worker is to do. */
type Plan =
  | { readonly assertion: Assertion; readonly outcome: Outcome; readonly step: null }
  | { readonly assertion: Assertion; readonly outcome: null; readonly step: PoolStep };

function planOf(assertion: Assertion, sources: SourceValues, inline: InlineWork): Plan {
  const source = sources[assertion.source];
  if (source === undefined) return { assertion, outcome: withoutResponse(assertion), step: null };
  const input = inputOf(assertion, source);
  if (input.kind !== 'value' && !inline.takes(assertion, input)) {
    return { assertion, outcome: null, step: poolStepOf(assertion, input, inline) };
  }
  const outcome = judge(assertion, input, (text) => inline.parse(text));
  return { assertion, outcome, step: null };
}

function poolStepOf(
  assertion: Assertion,
  input: Exclude<Input, { kind: 'value' }>,
  inline: InlineWork,
): PoolStep {
  switch (input.kind) {
    case 'text':
      return { assertion, kind: 'text', text: input.text, expression: input.pattern };
    case 'json-text':
      return { assertion, kind: 'json-text', text: input.text, expression: input.path };
    case 'json': {
      const text = inline.textOf(input.value);
      return { assertion, kind: 'json-text', text, expression: input.path };
    }
  }
}

function outcomeOf(assertion: Assertion, reply: PoolReply, limitMs: number): Outcome {
  const unfinished = (why: string): Outcome =>
    failed(`${subjectOf(assertion)} could not be evaluated: ${why}`);
  switch (reply.kind) {
    case 'judged':
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
        'PATTERN_WORKER_BROKEN',
        `The worker for regular expressions and JSONPath does not run: ${reply.problem}`,
      );
  }
}
