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
import type { Receiver } from '../config/variable-targets.ts';
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
import type {
  CheckTypeRunner,
  CheckTypeRunners,
  DetailExtras,
  DetailFields,
  LongBody,
  Probed,
} from './check-types/check-type.ts';
import { certainVerdict, tooLongAtMost } from './starvation/certain-verdict.ts';
import type { AttemptStarvation, StarvationMeter } from './starvation/starvation.ts';

/** No attempt takes longer, whatever its thresholds say (src/model/README.md, "The check file"). */
const ATTEMPT_LIMIT_MS = 30_000;
/** After a number. */
const TOO_LONG =
  'credentials of the request are not masked should the target repeat them: there are too many, or they are too long';

export interface AttemptParts {
  readonly clock: Clock;
  readonly checkTypes: CheckTypeRunners;
  readonly evaluator: Evaluator;
  readonly starvation: StarvationMeter;
  readonly resolver: Resolver;
  readonly guard: AddressGuard;
  readonly log: Logger;
  readonly secrets: Pick<SecretsVault, 'render' | 'credentials' | 'scrubberWith'>;
  /** For bodies that are longer than results store. */
  readonly bodyRoom: SharedBodyMemory;
}

export interface AttemptOptions {
  /** The first line of the job log. */
  readonly opening: string;
  readonly signal: AbortSignal;
  /** Whether a body longer than a result stores is wanted should the attempt fail. */
  readonly keepLongBody: boolean;
  /** Memory reserved for the body; without it, memory is taken as it is needed. */
  readonly room?: BodyMemory | undefined;
  /** The job log then is short. */
  readonly isBrief?: boolean;
  /** Called with the bytes of a body as they arrive. */
  readonly onBody?: (bytes: number) => void;
}

export interface Attempt {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Monotonic instant of the start. */
  readonly startMs: number;
  /** From the start until it was judged, milliseconds. */
  readonly durationMs: number;
  readonly failure: Failure | null;
  readonly networkError: boolean;
  /** No answer came, or of an ICMP check's echoes too many were lost. */
  readonly unreached: boolean;
  readonly endpoint: Endpoint | null;
  /** An HTTP request went out, on which the target may have acted. */
  readonly requestSent: boolean;
  /**
   * A variable of the agent's own whose value others on the way can read; null for none. Repeated
   * under a capture, the attempt would leave it there.
   */
  exposedVariable(): string | null;
  readonly responseTimeMs: number;
  readonly verdict: Verdict;
  /** False where the agent was too starved of CPU to judge: the attempt then does not count. */
  readonly isCertain: boolean;
  /** How long the agent was short of CPU in it, or by how much its times are uncertain: the larger, milliseconds. */
  readonly starvedMs: number;
  /** May grow until the details are made. */
  readonly jobLog: JobLog;
  readonly longBody: LongBody | null;
  /**
   * Bytes that the body for the assertions needed: the attempt then does not count. 0 where there
   * was enough memory, or where the attempt failed without those assertions.
   */
  readonly lackedBytes: number;
  /** What nobody is to know of its request, beyond what the vault knows. */
  readonly secrets: AttemptSecrets;
  detail(extras: Pick<DetailExtras, 'jobAssets' | 'evidence'>): DetailFields;
  /** Frees the memory of its body, which must not be used afterwards. To be called in any case. */
  forget(): void;
}

/** Probes once and judges what came. Never rejects: what breaks in it is an INTERNAL_ERROR. */
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
  { opening, signal, keepLongBody, room: reservedMemory, isBrief = false, onBody }: AttemptOptions,
  starvation: AttemptStarvation,
): Promise<Attempt> {
  const { clock } = parts;
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
    ownSecrets: NO_OWN_SECRETS,
    scrub: NOT_SCRUBBED,
    starvation,
  };
  log.info(opening);
  const observed = await observe(check, parts, context, bodyMemory);
  const { probed, assertions, secrets, exposedVariable, isCutShort } = observed;
  const { starvedMs, uncertainMs, lackedBytes } = observed;
  const { failure, networkError, endpoint, requestSent, responseTimeMs } = probed;
  const isLossy = probed.packetLossPercent !== null && probed.criterion === 'unmet';
  if (failure !== null) log.error(`${failure.code}: ${failure.message}`);

  const assertionsFailed = assertions.some(({ error }) => error !== null);
  const { lastTimeOut } = starvation;
  const seen = { probed, assertionsFailed, isCutShort, starvedMs, uncertainMs, lastTimeOut };
  const measured = verdictOf(check, { ...probed, assertionsFailed });
  const certain = await certainVerdict(check, seen, measured, {
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
    requestSent,
    exposedVariable,
    responseTimeMs,
    verdict: certain ?? measured,
    isCertain: certain !== null,
    starvedMs: Math.max(starvedMs, uncertainMs),
    jobLog: log,
    longBody,
    lackedBytes,
    secrets,
    detail: (extras) => probed.detail({ assertions, jobLog: log.entries(), timing, ...extras }),
    forget: () => bodyMemory.close(),
  };
}

/** An expression has 100 ms (evaluator.ts). */
const MAX_EVALUATION_STARVED_MS = 10;
/** Less than this is only in the result's `timing`, not in the job log. */
const MIN_LOGGED_STARVED_MS = 10;

function starvedText(tooLongMs: number): string {
  return `The agent was short of CPU in this attempt: its times may be up to ${Math.round(tooLongMs)} ms too long`;
}

/** The secrets are known only when the check is rendered. */
interface AttemptContext extends ProbeContext {
  ownSecrets: OwnSecrets;
  scrub: Scrub;
  readonly starvation: AttemptStarvation;
}

interface Observed {
  /** Until the probe had ended; 0 where there was none. */
  readonly starvedMs: number;
  /** Likewise: so much of it may have made the times too long. */
  readonly uncertainMs: number;
  /** An assertion was stopped at its time limit, for which our own want of CPU may be to blame. */
  readonly isCutShort: boolean;
  readonly probed: Probed;
  readonly lackedBytes: number;
  readonly assertions: readonly AssertionResult[];
  readonly secrets: AttemptSecrets;
  readonly exposedVariable: Attempt['exposedVariable'];
}

async function observe(
  check: Check,
  { checkTypes, evaluator, secrets, log }: AttemptParts,
  context: AttemptContext,
  bodyMemory: BodyMemory,
): Promise<Observed> {
  // The table has for each type the runner of just that type, which the compiler cannot follow.
  const runner = checkTypes[check.checkType] as CheckTypeRunner<typeof check.checkType>;
  let own = NO_ATTEMPT_SECRETS;
  try {
    const rendered = secrets.render(check);
    own = secrets.credentials(check, rendered.ok ? rendered.check : check);
    const known = await secrets.scrubberWith(own);
    context.scrub = (text) => known.text(text);
    if (own.dropped > 0) context.log.warn(`${own.dropped} ${TOO_LONG}`);
    if (!rendered.ok) {
      return unprobed(runner.broken(check as never, rendered.failure), own);
    }
    const { own: ownSecrets, parts } = rendered;
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
    const probed = await runner.probe(rendered.check as never, context, bodyMemory);
    const { starvedMs, uncertainMs } = context.starvation;
    const lackedBytes = failsWithoutBody(check, probed) ? 0 : probed.lackedBytes;
    const assertions = assertionsToJudge(check, probed, lackedBytes);
    if (assertions.length < check.request.assertions.length && lackedBytes === 0) {
      context.log.warn(BODY_NOT_JUDGED);
    }
    const { signal } = context;
    let outOfTime = false;
    const scrubber = await secrets.scrubberWith(own);
    const judged = await evaluator.evaluate(assertions, probed.sources, signal, {
      onOutOfTime: () => {
        outOfTime = true;
      },
      mask: maskOf(scrubber, parts),
    });
    const sinceMs = outOfTime ? context.starvation.starvedMs - starvedMs : 0;
    const isCutShort = sinceMs > MAX_EVALUATION_STARVED_MS;
    return {
      probed,
      starvedMs,
      uncertainMs,
      isCutShort,
      lackedBytes,
      assertions: judged,
      secrets: own,
      exposedVariable: () => exposedIn(ownSecrets, probed, receivers),
    };
  } catch (thrown) {
    const err = scrubError(thrown, await secrets.scrubberWith(own));
    log.error({ err, checkId: check.id }, 'an attempt broke; please report this');
    const message = `The agent's own fault: ${messageOf(thrown)}`;
    return unprobed(runner.broken(check as never, { code: 'INTERNAL_ERROR', message }), own);
  }
}

const BODY_NOT_JUDGED =
  'Assertions on the body were skipped: the agent had no memory for all of it, and the attempt failed without them';

/** An attempt that failed of itself is not made again for its body: that would hide the outage. */
function failsWithoutBody(check: Check, probed: Probed): boolean {
  if (probed.failure === null) return false;
  const { hasFailures, hasErrors } = verdictOf(check, { ...probed, assertionsFailed: false });
  return hasFailures || hasErrors;
}

/** Without those that read the body: a part of it proves nothing. */
function assertionsToJudge(
  { request }: Check,
  probed: Probed,
  lackedBytes: number,
): readonly Assertion[] {
  const all: readonly Assertion[] = request.assertions;
  if (lackedBytes > 0) return [];
  return probed.lackedBytes === 0 ? all : all.filter(({ source }) => !isOfBody(source));
}

function unprobed(probed: Probed, secrets: AttemptSecrets): Observed {
  return {
    probed,
    starvedMs: 0,
    uncertainMs: 0,
    isCutShort: false,
    lackedBytes: 0,
    assertions: [],
    secrets,
    exposedVariable: () => null,
  };
}

/**
 * An expression decides where the text is cut, so parts of secrets are masked as well, before any
 * message quotes them. Whole secrets are masked first: masking only the parts of a secret in an
 * escaped form would leave the escapes.
 */
function maskOf(scrubber: Scrubber, parts: PartMask): (text: string) => string {
  return (text) => parts.text(scrubber.text(text));
}

/** DNS lookups and TLS handshakes send host names in clear text. */
function exposedIn(
  ownSecrets: OwnSecrets,
  { unencrypted, endpoint }: Probed,
  receivers: readonly Receiver[],
): string | null {
  const [first = null] = ownSecrets.names;
  if (first === null || unencrypted || ownSecrets.isInHost) return first;
  // A host that the check names may be a guess; one that a redirect names has what the target had.
  const host = endpoint?.hostname ?? '';
  return receivers.some(({ hostname }) => hostname === host) ? null : ownSecrets.nameIn(host);
}
