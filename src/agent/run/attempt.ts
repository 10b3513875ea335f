import type { Assertion, AssertionResult } from '../../model/check/assertion.ts';
import type { Check } from '../../model/check/check.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { type Verdict, verdictOf } from '../../model/result/verdict.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AddressGuard } from '../../runtime/net/address-guard.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { PartMask } from '../../scrub/secret-parts.ts';
import type { Evaluator } from '../assertions/evaluator.ts';
import { isOfBody } from '../assertions/sources.ts';
import type { Resolver } from '../net/resolver.ts';
import type { Endpoint } from '../probes/endpoint.ts';
import type { BodyMemory, SharedBodyMemory } from '../probes/http/body/body-memory.ts';
import { JobLog } from '../probes/job-log.ts';
import { type ProbeContext, roundMs } from '../probes/probe.ts';
import { type AttemptSecrets, NO_ATTEMPT_SECRETS } from '../secrets/attempt-secrets.ts';
import { NOT_SCRUBBED, type Scrub } from '../secrets/cut-scrubbed.ts';
import { NO_OWN_SECRETS, type OwnSecrets } from '../secrets/own-secrets.ts';
import { scrubError } from '../secrets/scrub-error.ts';
import type { SecretsVault } from '../secrets/vault.ts';
import { type AttemptScripts, attemptScripts, type ScriptTools } from './attempt-scripts.ts';
import { CANCELLED_ON_REQUEST, isRunCancelled } from './cancelled.ts';
import type {
  CheckTypeRunner,
  CheckTypeRunners,
  DetailExtras,
  DetailFields,
  LongBody,
  Probed,
} from './check-types/check-type.ts';
import { SentRequests } from './sent-requests.ts';
import { CutShort } from './starvation/cut-short.ts';
import type { AttemptStarvation, StarvationMeter } from './starvation/starvation.ts';
import { tooLongAtMost, verdictUnderStarvation } from './starvation/verdict-under-starvation.ts';

/** No attempt takes longer, whatever its thresholds say (src/model/README.md, "Thresholds"). */
const ATTEMPT_LIMIT_MS = 30_000;

export interface AttemptParts {
  readonly clock: Clock;
  readonly checkTypes: CheckTypeRunners;
  readonly evaluator: Evaluator;
  readonly starvation: StarvationMeter;
  readonly resolver: Resolver;
  readonly guard: AddressGuard;
  readonly log: Logger;
  readonly secrets: Pick<
    SecretsVault,
    'render' | 'credentials' | 'scrubberWith' | 'viewForScripts' | 'renderScripted'
  >;
  readonly scripts: ScriptTools;
  /** Memory for bodies that are longer than results store. */
  readonly bodyRoom: SharedBodyMemory;
}

export interface AttemptOptions {
  /** The first line of the job log. */
  readonly opening: string;
  readonly signal: AbortSignal;
  /** Whether to keep a body that is longer than a result stores, in case the attempt fails. */
  readonly keepLongBody: boolean;
  /** Memory reserved for the body; without it, memory is allocated as needed. */
  readonly room?: BodyMemory | undefined;
  /** Makes the job log short. */
  readonly isBrief?: boolean;
  /** Called with the bytes of a body as they arrive. */
  readonly onBody?: (bytes: number) => void;
  /** IPv6 does not fall back to IPv4, which has an attempt of its own. */
  readonly staysInFamily?: boolean;
}

export interface Attempt {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Monotonic instant of the start. */
  readonly startMs: number;
  /** Milliseconds from the start until the verdict. */
  readonly durationMs: number;
  readonly failure: Failure | null;
  readonly networkError: boolean;
  /** No response came, or an ICMP check lost too many echoes. */
  readonly unreached: boolean;
  readonly endpoint: Endpoint | null;
  /** Methods of the HTTP requests that the attempt and its scripts sent: targets may have acted on them. */
  readonly sentMethods: readonly string[];
  /**
   * A variable of the agent itself whose value others on the way can read, in the request of the
   * check or of a script; null if there is none. A capture of a repeated attempt would contain it.
   */
  exposedVariable(): string | null;
  readonly responseTimeMs: number;
  readonly verdict: Verdict;
  /** False if the agent was too starved of CPU, or too busy, for a verdict: it then does not count. */
  readonly isCertain: boolean;
  /** The attempt does not count because scripts lacked workers or memory, not because CPU was short. */
  readonly wasBusy: boolean;
  /** Milliseconds: the larger of the CPU starvation and the uncertainty of its times. */
  readonly starvedMs: number;
  /** May grow until the details are made. */
  readonly jobLog: JobLog;
  readonly longBody: LongBody | null;
  /**
   * Bytes that the body needed for the assertions, if there was not enough memory: the attempt then
   * does not count. 0 also if the attempt failed without those assertions.
   */
  readonly lackedBytes: number;
  /** Secrets of its request that the vault does not know. */
  readonly secrets: AttemptSecrets;
  detail(extras: Pick<DetailExtras, 'jobAssets' | 'evidence' | 'families'>): DetailFields;
  /** Frees the memory of its body, which must not be used afterwards. Must always be called. */
  forget(): void;
}

/**
 * Probes once and gives a verdict. Never rejects: a fault of the agent is an INTERNAL_ERROR. Does not
 * probe if the run is cancelled already.
 */
export async function makeAttempt(
  check: Check,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<Attempt> {
  const starvation = parts.starvation.begin();
  try {
    return await attemptStarved(check, parts, options, starvation);
  } finally {
    parts.starvation.end();
  }
}

async function attemptStarved(
  check: Check,
  parts: AttemptParts,
  options: AttemptOptions,
  starvation: AttemptStarvation,
): Promise<Attempt> {
  const { clock } = parts;
  const { opening, signal, keepLongBody, room: reservedMemory, isBrief = false } = options;
  const { onBody, staysInFamily } = options;
  const log = new JobLog(clock, { isBrief, scrub: (text) => context.scrub(text) });
  const bodyMemory = reservedMemory ?? parts.bodyRoom.open(keepLongBody);
  const startedAtMs = clock.wallMs();
  const startMs = clock.monotonicMs();
  const { resolver, guard } = parts;
  const context: AttemptContext = {
    signal,
    clock,
    deadlineMs: startMs + ATTEMPT_LIMIT_MS,
    resolver,
    guard,
    log,
    onBody,
    staysInFamily,
    ownSecrets: NO_OWN_SECRETS,
    scrub: NOT_SCRUBBED,
    sent: new SentRequests(),
    starvation,
  };
  log.info(opening);
  const observed = await observe(check, parts, context, bodyMemory);
  const { probed, assertions, secrets, cutShort, othersFailed } = observed;
  const { starvedMs, uncertainMs, lackedBytes, wasBusy, scriptStarvedMs } = observed;
  const { failure, networkError, endpoint, responseTimeMs } = probed;
  const isLossy = probed.packetLossPercent !== null && probed.criterion === 'unmet';
  if (failure !== null) log.error(`${failure.code}: ${failure.message}`);

  const assertionsFailed = assertions.some(({ error }) => error !== null);
  const { lastTimeOut } = context.starvation;
  const seen = {
    ...{ probed, cutShort, assertionsFailed: othersFailed },
    ...{ starvedMs, uncertainMs, lastTimeOut },
  };
  const measured = verdictOf(check, { ...probed, assertionsFailed });
  const certain = await verdictUnderStarvation(check, seen, measured, {
    evaluator: parts.evaluator,
    signal,
  });
  const tooLongMs = tooLongAtMost(probed, uncertainMs);
  if (tooLongMs >= MIN_LOGGED_STARVED_MS) log.info(starvedText(tooLongMs));
  const timing = { uncertaintyMs: roundMs(tooLongMs), clock: probed.clock };
  const longBody = keepLongBody ? probed.longBody : null;
  const durationMs = clock.monotonicMs() - startMs;
  return {
    startedAtMs,
    startMs,
    durationMs,
    failure,
    networkError,
    unreached: networkError || isLossy,
    endpoint,
    sentMethods: context.sent.sentMethods,
    exposedVariable: () => context.sent.exposedVariable(),
    responseTimeMs,
    verdict: certain ?? measured,
    isCertain: certain !== null && !wasBusy && scriptStarvedMs === 0,
    wasBusy,
    starvedMs: Math.max(starvedMs, uncertainMs, scriptStarvedMs),
    jobLog: log,
    longBody,
    lackedBytes,
    secrets,
    detail: (extras) => probed.detail({ assertions, jobLog: log.entries(), timing, ...extras }),
    forget: () => bodyMemory.close(),
  };
}

/** Shorter starvation is only in the result's `timing`, not in the job log. */
const MIN_LOGGED_STARVED_MS = 10;

function starvedText(tooLongMs: number): string {
  return `The agent was short of CPU in this attempt: its times may be up to ${Math.round(tooLongMs)} ms too long`;
}

/** Some fields are set when the check is rendered. */
interface AttemptContext extends ProbeContext {
  deadlineMs: number;
  wantsBody?: boolean | undefined;
  ownSecrets: OwnSecrets;
  scrub: Scrub;
  readonly sent: SentRequests;
  learnSecrets?: (values: readonly string[]) => Promise<void>;
  starvation: AttemptStarvation;
}

interface Observed {
  /** Until the end of the probe; 0 without a probe. */
  readonly starvedMs: number;
  /** The part of it that may have made the times too long. */
  readonly uncertainMs: number;
  /** The assertions that exceeded their time limit, perhaps because the agent was short of CPU. */
  readonly cutShort: ReadonlySet<Assertion>;
  /** An assertion failed that was not cut short. */
  readonly othersFailed: boolean;
  readonly probed: Probed;
  readonly lackedBytes: number;
  /** Scripts lacked a worker, or memory for a response. */
  readonly wasBusy: boolean;
  /** In a script that failed perhaps only because of that; else 0. */
  readonly scriptStarvedMs: number;
  readonly assertions: readonly AssertionResult[];
  readonly secrets: AttemptSecrets;
}

async function observe(
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
    const { own: ownSecrets, parts: partMask } = rendered;
    const isOwn = ownSecrets.names.length > 0;
    const receivers = isOwn ? runner.receivers(rendered.check as never) : [];
    const why = ownSecrets.whyNotTo(receivers);
    if (why !== null) {
      return unprobed(
        runner.broken(check as never, { code: 'VARIABLE_DENIED', message: why }),
        own,
      );
    }
    context.ownSecrets = ownSecrets;
    const cancelled = (): Observed =>
      unprobed(runner.broken(check as never, CANCELLED_ON_REQUEST), own);
    if (isRunCancelled(context.signal)) return cancelled();
    const { request } = rendered.check;
    const method = 'method' in request ? request.method : null;
    const probed = await context.sent.send({ method, ownSecrets, receivers }, () =>
      runner.probe(rendered.check as never, context, bodyMemory),
    );
    // A probe that had ended before keeps what it saw.
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

/** Without those on the body if only a part of it fitted in memory. */
function assertionsToEvaluate(
  { request }: Check,
  probed: Probed,
  lackedBytes: number,
): readonly Assertion[] {
  const all: readonly Assertion[] = request.assertions;
  if (lackedBytes > 0) return [];
  return probed.lackedBytes === 0 ? all : all.filter(({ source }) => !isOfBody(source));
}

/** What keeps the failure of a script from counting. */
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
