import type { Assertion, AssertionResult } from '../../model/check/assertions/assertion.ts';
import type { Check } from '../../model/check/check.ts';
import { verdictOf } from '../../model/result/verdict.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AddressGuard } from '../../runtime/net/address-guard.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { PartMask } from '../../scrub/secret-parts.ts';
import { isOfBody } from '../assertions/assertion-sources.ts';
import type { Evaluator } from '../assertions/evaluator.ts';
import type { Resolver } from '../net/resolver.ts';
import type { BodyMemory, SharedBodyMemory } from '../probes/http/body/body-memory.ts';
import type { ProbeContext } from '../probes/probe.ts';
import type { AgentSecrets } from '../secrets/agent-secrets.ts';
import { type AttemptSecrets, NO_ATTEMPT_SECRETS } from '../secrets/attempt-secrets.ts';
import type { Scrub } from '../secrets/cut-scrubbed.ts';
import type { OperatorSecrets } from '../secrets/operator-secrets.ts';
import { scrubError } from '../secrets/scrub-error.ts';
import { type AttemptScripts, attemptScripts, type ScriptTools } from './attempt-scripts.ts';
import { CANCELLED_ON_REQUEST, isRunCancelled } from './cancellation.ts';
import type { CheckTypeRunner, CheckTypeRunners, Probed } from './check-types/check-type.ts';
import type { SentRequests } from './sent-requests.ts';
import { CutShort } from './starvation/cut-short.ts';
import type { AttemptStarvation, StarvationMeter } from './starvation/starvation-meter.ts';

export interface AttemptParts {
  readonly clock: Clock;
  readonly checkTypes: CheckTypeRunners;
  readonly evaluator: Evaluator;
  readonly starvation: StarvationMeter;
  readonly resolver: Resolver;
  readonly guard: AddressGuard;
  readonly log: Logger;
  readonly secrets: Pick<
    AgentSecrets,
    'render' | 'credentials' | 'scrubberWith' | 'viewForScripts' | 'renderScripted'
  >;
  readonly scripts: ScriptTools;
  /** Memory for bodies that are longer than results store. */
  readonly bodyRoom: SharedBodyMemory;
}

/** Some fields are set when the check is rendered. */
export interface AttemptContext extends ProbeContext {
  deadlineMs: number;
  wantsBody?: boolean | undefined;
  operatorSecrets: OperatorSecrets;
  scrub: Scrub;
  readonly sent: SentRequests;
  learnSecrets?: (values: readonly string[]) => Promise<void>;
  starvation: AttemptStarvation;
}

export interface Observed {
  /** Milliseconds of CPU starvation until the end of the probe; 0 without a probe. */
  readonly starvedMs: number;
  /** Milliseconds by which the measured times may be too long. */
  readonly uncertainMs: number;
  /** The assertions that exceeded their time limit, perhaps because the agent was short of CPU. */
  readonly cutShort: ReadonlySet<Assertion>;
  /** An assertion failed that was not cut short. */
  readonly othersFailed: boolean;
  readonly probed: Probed;
  readonly lackedBytes: number;
  /** Scripts lacked a worker, or memory for a response. */
  readonly wasBusy: boolean;
  /** Milliseconds of CPU starvation in a script that may have failed only because of it; else 0. */
  readonly scriptStarvedMs: number;
  readonly assertions: readonly AssertionResult[];
  readonly secrets: AttemptSecrets;
}

/**
 * Runs the scripts, renders the check, probes, and evaluates the assertions. Never rejects: a fault
 * of the agent is an INTERNAL_ERROR.
 */
export async function observe(
  check: Check,
  parts: AttemptParts,
  context: AttemptContext,
  bodyMemory: BodyMemory,
): Promise<Observed> {
  const { checkTypes, evaluator, secrets, log } = parts;
  // The compiler cannot see that the runner is for the type of the check.
  const runner = checkTypes[check.checkType] as CheckTypeRunner<typeof check.checkType>;
  let own = NO_ATTEMPT_SECRETS;
  const logFault = async (what: string, thrown: unknown): Promise<void> => {
    const err = scrubError(thrown, await secrets.scrubberWith(own));
    log.error({ err, checkId: check.id }, `${what}; please report this`);
  };
  try {
    context.learnSecrets = async (values) => {
      own = { ...own, values: [...new Set([...own.values, ...values])] };
      const learned = await secrets.scrubberWith(own);
      context.scrub = (text) => learned.text(text);
    };
    const onFault = (thrown: unknown): Promise<void> =>
      logFault('a request of a script by fetch ended with a fault of the agent', thrown);
    const scripts = attemptScripts(check, { ...parts, onFault }, context);
    if (scripts !== null) {
      await context.learnSecrets(secrets.credentials(check, scripts.shown).values);
    }
    const rendered = scripts === null ? secrets.render(check) : await scripts.setup();
    if (scripts !== null) {
      // Starvation while scripts ran says nothing about the times of the request.
      context.starvation = parts.starvation.begin();
      parts.starvation.end();
    }
    const sent = secrets.credentials(check, rendered.ok ? rendered.check : check);
    own = { ...own, dropped: sent.dropped };
    await context.learnSecrets(sent.values);
    if (own.dropped > 0) context.log.warn(tooManyCredentialsText(own.dropped));
    if (!rendered.ok) {
      const broken = runner.broken(check as never, rendered.failure);
      return { ...unprobed(broken, own), ...doubtsOf(scripts) };
    }
    const { own: operatorSecrets, parts: partMask } = rendered;
    const isOwn = operatorSecrets.names.length > 0;
    const receivers = isOwn ? runner.receivers(rendered.check as never) : [];
    const why = operatorSecrets.whyNotTo(receivers);
    if (why !== null) {
      return unprobed(
        runner.broken(check as never, { code: 'VARIABLE_DENIED', message: why }),
        own,
      );
    }
    context.operatorSecrets = operatorSecrets;
    const cancelled = (): Observed =>
      unprobed(runner.broken(check as never, CANCELLED_ON_REQUEST), own);
    if (isRunCancelled(context.signal)) return cancelled();
    const { request } = rendered.check;
    const method = 'method' in request ? request.method : null;
    const probed = await context.sent.send({ method, operatorSecrets, receivers }, () =>
      runner.probe(rendered.check as never, context, bodyMemory),
    );
    // A probe that ended before the cancellation keeps its outcome.
    if (isRunCancelled(context.signal) && probed.failure?.code === 'CANCELLED') return cancelled();
    const { starvedMs, uncertainMs } = context.starvation;
    const lackedBytes = failsWithoutBody(check, probed) ? 0 : probed.lackedBytes;
    const assertions = assertionsToEvaluate(check, probed, lackedBytes);
    if (assertions.length < check.request.assertions.length && lackedBytes === 0) {
      context.log.warn(BODY_NOT_EVALUATED);
    }
    const { signal } = context;
    const evaluation = new CutShort(context.starvation, starvedMs);
    const scrubber = await secrets.scrubberWith(own);
    const results = await evaluator.evaluate(assertions, probed.sources, signal, {
      onOutOfTime: evaluation.onOutOfTime,
      mask: maskOf(scrubber, partMask),
    });
    const cutShort = evaluation.assertions();
    const othersFailed = assertions.some(
      (each, index) => !cutShort.has(each) && results[index]?.error !== null,
    );
    const { hasFailures } = verdictOf(check, { ...probed, assertionsFailed: othersFailed });
    const ended = scripts === null ? probed : await scripts.teardown(probed, hasFailures);
    return {
      probed: ended,
      starvedMs,
      uncertainMs,
      cutShort,
      othersFailed,
      lackedBytes,
      ...doubtsOf(scripts),
      assertions: results,
      secrets: own,
    };
  } catch (thrown) {
    await logFault('an attempt ended with a fault of the agent', thrown);
    const message = `A fault of the agent itself: ${messageOf(thrown)}`;
    return unprobed(runner.broken(check as never, { code: 'INTERNAL_ERROR', message }), own);
  }
}

function tooManyCredentialsText(count: number): string {
  return `${count} credentials of the request are too many or too long to be masked if the target repeats them`;
}

const BODY_NOT_EVALUATED =
  'Assertions on the body were skipped: the agent had no memory for all of it, and the attempt failed without them';

/** An attempt that failed anyway is not repeated for its body: that would hide the outage. */
function failsWithoutBody(check: Check, probed: Probed): boolean {
  if (probed.failure === null) return false;
  const { hasFailures, hasErrors } = verdictOf(check, { ...probed, assertionsFailed: false });
  return hasFailures || hasErrors;
}

/**
 * None if the attempt is repeated for its body. None on the body if only a part of it fitted in
 * memory, and the attempt failed anyway.
 */
function assertionsToEvaluate(
  { request }: Check,
  probed: Probed,
  lackedBytes: number,
): readonly Assertion[] {
  const all: readonly Assertion[] = request.assertions;
  if (lackedBytes > 0) return [];
  return probed.lackedBytes === 0 ? all : all.filter(({ source }) => !isOfBody(source));
}

/** Why a failure of a script may not count. */
function doubtsOf(scripts: AttemptScripts | null): Pick<Observed, 'wasBusy' | 'scriptStarvedMs'> {
  return { wasBusy: scripts?.wasBusy ?? false, scriptStarvedMs: scripts?.starvedMs ?? 0 };
}

function unprobed(probed: Probed, secrets: AttemptSecrets): Observed {
  return {
    probed,
    starvedMs: 0,
    uncertainMs: 0,
    cutShort: new Set(),
    othersFailed: false,
    lackedBytes: 0,
    ...doubtsOf(null),
    assertions: [],
    secrets,
  };
}

/**
 * An expression can cut a secret, so parts of secrets are also masked before a message quotes them.
 * Complete secrets are masked first: masking only parts of an escaped secret would leave its
 * escapes.
 */
function maskOf(scrubber: Scrubber, parts: PartMask): (text: string) => string {
  return (text) => parts.text(scrubber.text(text));
}
