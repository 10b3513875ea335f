import type { Check, CheckOf } from '../../model/check/check.ts';
import { isHttpUrl } from '../../model/check/request/request-url.ts';
import { type NamedScript, scriptsOf } from '../../model/check/scripts.ts';
import { type Failure, isOwnFault } from '../../model/result/error-codes.ts';
import type { SharedBodyMemory } from '../probes/http/body/body-memory.ts';
import type { ProbeContext } from '../probes/probe.ts';
import {
  MAX_CREDENTIAL_CHARS,
  MAX_ERROR_CHARS,
  MAX_LOG_LINES,
  SCRIPT_LIMIT_MS,
} from '../scripts/limits.ts';
import type { PooledOutcome, ScriptPool } from '../scripts/script-pool.ts';
import type { FetchReply, ScriptLogLevel, ScriptResponse } from '../scripts/script-protocol.ts';
import {
  readScriptRequest,
  scriptRequestOf,
  scriptResponseOf,
  withRequest,
} from '../scripts/script-request.ts';
import type { ScriptHost } from '../scripts/script-thread.ts';
import type { AgentSecrets, RenderedWithSecrets } from '../secrets/agent-secrets.ts';
import type { AttemptSecrets } from '../secrets/attempt-secrets.ts';
import { shortenedText } from '../secrets/cut-scrubbed.ts';
import type { ScriptView } from '../secrets/script-view.ts';
import { CANCELLED_ON_REQUEST, isRunCancelled } from './cancellation.ts';
import type { CheckTypeRunners, Probed } from './check-types/check-type.ts';
import type { SentRequests } from './sent-requests.ts';
import type { StarvationMeter } from './starvation/starvation-meter.ts';
import { mayFollowSlowness, OWN_SLOWNESS_MS } from './starvation/verdict-under-starvation.ts';

export interface ScriptTools {
  readonly pool: ScriptPool;
  /** EXECUTE_SCRIPTS */
  readonly isEnabled: boolean;
  /** Time limit of a script in milliseconds; for tests. */
  readonly limitMs?: number;
}

export interface AttemptScriptsParts {
  readonly scripts: ScriptTools;
  readonly secrets: Pick<AgentSecrets, 'credentials' | 'viewForScripts' | 'renderScripted'>;
  readonly checkTypes: CheckTypeRunners;
  readonly bodyRoom: SharedBodyMemory;
  readonly starvation: Pick<StarvationMeter, 'mark' | 'sinceMs'>;
  /** Called with what was thrown in a request by `fetch`, which is a fault of the agent. */
  readonly onFault: (thrown: unknown) => Promise<void>;
}

/** Scripts move `deadlineMs` by the time that they take, which is not the request's. */
export type ScriptedContext = Omit<ProbeContext, 'deadlineMs' | 'wantsBody'> & {
  deadlineMs: number;
  wantsBody?: boolean | undefined;
  readonly sent: SentRequests;
};

type Stage = 'setup' | 'teardown';
type Ran = { readonly ok: true } | { readonly ok: false; readonly failure: Failure };

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();
/** Maximum number of lines in the job log, of all scripts of an attempt together. */
const MAX_ATTEMPT_LINES = 2 * MAX_LOG_LINES;

/** The scripts of an attempt; null for a check without any. */
export function attemptScripts(
  check: Check,
  parts: AttemptScriptsParts,
  context: ScriptedContext,
): AttemptScripts | null {
  if (check.checkType !== 'API') return null;
  const { setup, teardown } = scriptsOf(check);
  if (setup.length === 0 && teardown.length === 0 && !lacksSnippet(check)) return null;
  return new AttemptScripts(check, parts, context);
}

/** Without a service there are no snippets. */
function lacksSnippet({ scripts, setupSnippetId, teardownSnippetId }: CheckOf<'API'>): boolean {
  return scripts === undefined && (setupSnippetId ?? teardownSnippetId) !== null;
}

/** The scripts of one attempt (src/model/README.md, "Setup and teardown scripts"). */
export class AttemptScripts {
  readonly #check: CheckOf<'API'>;
  readonly #parts: AttemptScriptsParts;
  readonly #context: ScriptedContext;
  readonly #view: ScriptView;
  /** Variables that scripts have set so far, with their values. */
  readonly #set = new Map<string, string>();
  /** The check with the request as changed by scripts, before its placeholders are filled in. */
  #current: CheckOf<'API'>;
  /** The credentials in all requests by `fetch`. */
  #credentials: ReadonlySet<string> = new Set();
  #learning: Promise<void> = Promise.resolve();
  #lines = 0;
  /** The agent itself was at fault in a request by `fetch`. */
  #wasAtFault: boolean = false;
  /** The agent had no memory for the body of a response to `fetch`. */
  #lackedMemory: boolean = false;
  #wasBusy: boolean = false;
  /** Requests by `fetch` that failed, perhaps because the agent was short of CPU. */
  #slowFetches = 0;
  #starvedMs = 0;

  constructor(check: CheckOf<'API'>, parts: AttemptScriptsParts, context: ScriptedContext) {
    this.#check = check;
    this.#parts = parts;
    this.#context = context;
    this.#view = parts.secrets.viewForScripts(check);
    this.#current = this.#view.shown as CheckOf<'API'>;
    context.wantsBody = scriptsOf(check).teardown.length > 0;
  }

  /** The check with the values that its scripts see. */
  get shown(): Check {
    return this.#view.shown;
  }

  /**
   * No worker became free in time, or a script failed after there was no memory for a response: the
   * attempt says nothing about the target.
   */
  get wasBusy(): boolean {
    return this.#wasBusy;
  }

  /**
   * Milliseconds of CPU starvation in a script that may have failed only because of it; 0 if there
   * is no such script.
   */
  get starvedMs(): number {
    return this.#starvedMs;
  }

  /** Runs the setup scripts. Returns the check with the request to send, or why it is not sent. */
  async setup(): Promise<RenderedWithSecrets<Check>> {
    if (!this.#parts.scripts.isEnabled) return { ok: false, failure: REFUSED };
    if (lacksSnippet(this.#check)) return { ok: false, failure: NO_SNIPPET };
    const ran = await this.#runAll('setup', null);
    if (!ran.ok) return ran;
    // AgentSecrets compiles each check once, and the first one belongs to the scripts.
    const made = { ...this.#current };
    const rendered = this.#parts.secrets.renderScripted(this.#view, made, this.#set);
    if (rendered.ok && !isHttpUrl(rendered.check.request.url)) {
      const message = 'The url that the setup scripts left is not an http or https URL.';
      return { ok: false, failure: { code: 'SCRIPT_FAILED', message } };
    }
    return rendered;
  }

  /**
   * Runs the teardown scripts. Returns the outcome of the probe, as a failure if a script fails.
   *
   * @param hasFailed the attempt fails, whatever the teardown does
   */
  async teardown(probed: Probed, hasFailed: boolean): Promise<Probed> {
    const ran = await this.#runAll('teardown', responseOf(probed));
    if (ran.ok) return probed;
    const { failure } = ran;
    // What the agent itself lacked for a teardown must not hide an outage.
    const isOurs = isOwnFault(failure.code) || this.#wasBusy || this.#starvedMs > 0;
    if (probed.failure !== null || (hasFailed && isOurs)) {
      this.#wasBusy = false;
      this.#starvedMs = 0;
      this.#context.log.error(`${failure.code}: ${failure.message}`);
      return probed;
    }
    return withFailure(probed, failure);
  }

  async #runAll(stage: Stage, response: ScriptResponse | null): Promise<Ran> {
    const { clock } = this.#context;
    const startMs = clock.monotonicMs();
    try {
      for (const script of scriptsOf(this.#check)[stage]) {
        const ran = await this.#run(stage, script, response);
        if (!ran.ok) return ran;
      }
      return { ok: true };
    } finally {
      this.#context.deadlineMs += clock.monotonicMs() - startMs;
    }
  }

  async #run(stage: Stage, script: NamedScript, response: ScriptResponse | null): Promise<Ran> {
    const title = `The ${stage} script of the ${script.owner}`;
    const { log, signal } = this.#context;
    const { pool, limitMs = SCRIPT_LIMIT_MS } = this.#parts.scripts;
    const { starvation } = this.#parts;
    const request = scriptRequestOf(this.#current);
    const variables = [...new Map([...this.#view.variables, ...this.#set])];
    let sinceStart = starvation.mark();
    const slowBefore = this.#slowFetches;
    const outcome = await pool.run(
      {
        source: script.source,
        fileName: `${stage}.js`,
        input: { request, response, variables },
        limitMs,
        signal,
        onStart: () => {
          sinceStart = starvation.mark();
        },
      },
      this.#host(),
    );
    if (outcome.kind !== 'passed') {
      const starvedMs = starvation.sinceMs(sinceStart);
      const isTimed = outcome.kind === 'timed-out' || this.#slowFetches > slowBefore;
      if (isTimed && starvedMs > OWN_SLOWNESS_MS) this.#starvedMs = starvedMs;
      return { ok: false, failure: this.#afterFaults(this.#failureOf(title, outcome)) };
    }
    for (const { name, value } of outcome.result.variables) this.#set.set(name, value);
    if (stage === 'teardown') {
      log.info(`${title} has ended`);
      return { ok: true };
    }
    const read = readScriptRequest(outcome.result.request);
    if (!read.ok) {
      const message = `${title} left a request that cannot be sent: ${read.problem}`;
      return { ok: false, failure: this.#afterFaults({ code: 'SCRIPT_FAILED', message }) };
    }
    this.#current = withRequest(this.#current, read.request);
    log.info(`${title} has ended`);
    return { ok: true };
  }

  /**
   * A failure after a fault of the agent, or after memory ran out, says nothing about the check.
   */
  #afterFaults(failure: Failure): Failure {
    if (failure.code === 'CANCELLED') return failure;
    if (this.#lackedMemory) this.#wasBusy = true;
    if (!this.#wasAtFault) return failure;
    const message = `After a fault of the agent itself in a request by fetch: ${failure.message}`;
    return { code: 'INTERNAL_ERROR', message };
  }

  #failureOf(title: string, outcome: Exclude<PooledOutcome, { kind: 'passed' }>): Failure {
    switch (outcome.kind) {
      case 'failed': {
        const { code, line } = outcome;
        if (code === 'SCRIPT_MEMORY') {
          return { code, message: `${title} needed more than 64 MB of memory` };
        }
        const where = line === null ? '' : ` in line ${line}`;
        // The message may quote a secret: a part that a cut leaves of it would not be masked.
        const shown = this.#view.placeholders.shown(outcome.message);
        const text = shortenedText(shown, MAX_ERROR_CHARS, this.#context.scrub);
        return { code, message: `${title} failed${where}: ${text}` };
      }
      case 'timed-out': {
        const message = `${title} did not end within ${SCRIPT_LIMIT_MS / 1000} s`;
        return { code: 'SCRIPT_TIMEOUT', message };
      }
      case 'cancelled':
        return isRunCancelled(this.#context.signal)
          ? CANCELLED_ON_REQUEST
          : { code: 'CANCELLED', message: `${title} was ended: the agent stopped` };
      case 'no-worker': {
        this.#wasBusy = true;
        const message = `${title} was not started: all workers for scripts are busy (SCRIPT_WORKERS)`;
        return { code: 'INTERNAL_ERROR', message };
      }
      case 'broken': {
        const message = `${title} could not be run, a fault of the agent itself: ${outcome.problem}`;
        return { code: 'INTERNAL_ERROR', message };
      }
    }
  }

  #host(): ScriptHost {
    return {
      log: (level, text) => this.#log(level, text),
      learn: (values) => this.#learn(values),
      fetch: (request, signal) => this.#fetch(request, signal),
    };
  }

  /**
   * One after the other: each call rebuilds the scrubber, and the one with all secrets must win.
   */
  #learn(values: readonly string[]): Promise<void> {
    this.#learning = this.#learning.then(() => this.#context.learnSecrets?.(values));
    return this.#learning;
  }

  /** Resolves when the credentials of a request are masked; with false if they are too long. */
  async #learnCredentials({ values, dropped }: AttemptSecrets): Promise<boolean> {
    const all = new Set([...this.#credentials, ...values]);
    const chars = [...all].reduce((sum, { length }) => sum + length, 0);
    if (dropped > 0 || chars > MAX_CREDENTIAL_CHARS) return false;
    const isNews = all.size > this.#credentials.size;
    this.#credentials = all;
    await (isNews ? this.#learn(values) : this.#learning);
    return true;
  }

  #log(level: ScriptLogLevel, text: string): void {
    this.#lines += 1;
    if (this.#lines <= MAX_ATTEMPT_LINES) {
      this.#context.log[level](this.#view.placeholders.shown(text));
    }
  }

  async #fetch(given: unknown, signal: AbortSignal): Promise<FetchReply> {
    try {
      return await this.#probe(given, signal);
    } catch (thrown) {
      this.#wasAtFault = true;
      await this.#parts.onFault(thrown);
      return { ok: false, problem: 'a fault of the agent itself' };
    }
  }

  async #probe(given: unknown, signal: AbortSignal): Promise<FetchReply> {
    const refused = (problem: string): FetchReply => ({ ok: false, problem });
    const read = readScriptRequest(given);
    if (!read.ok) return refused(read.problem);
    const bare: CheckOf<'API'> = {
      ...this.#check,
      request: {
        ...this.#check.request,
        bodyType: 'NONE',
        basicAuth: null,
        auth: null,
        assertions: [],
      },
    };
    const { secrets, checkTypes, bodyRoom } = this.#parts;
    const asked = withRequest(bare, read.request);
    const rendered = secrets.renderScripted(this.#view, asked, NO_VARIABLES);
    if (!rendered.ok) return refused(rendered.failure.message);
    const { check, own } = rendered;
    if (!isHttpUrl(check.request.url)) return refused('the url is not an http or https URL');
    const receivers = checkTypes.API.receivers(check);
    const why = own.whyNotTo(receivers);
    if (why !== null) return refused(why);
    const context = this.#context;
    const hasLearnt = await this.#learnCredentials(secrets.credentials(asked, check));
    if (!hasLearnt) return refused(TOO_LONG_CREDENTIALS);
    const memory = bodyRoom.open(true);
    try {
      const probeContext: ProbeContext = {
        ...context,
        signal: AbortSignal.any([context.signal, signal]),
        deadlineMs: context.clock.monotonicMs() + SCRIPT_LIMIT_MS,
        operatorSecrets: own,
        wantsBody: true,
        // Starvation and bytes of a request by fetch do not count for the request of the check.
        starvation: undefined,
        onBody: undefined,
      };
      const { method } = check.request;
      const probed = await context.sent.send({ method, operatorSecrets: own, receivers }, () =>
        checkTypes.API.probe(check, probeContext, memory),
      );
      const { failure } = probed;
      if (failure !== null) {
        if (mayFollowSlowness(failure)) this.#slowFetches += 1;
        if (isOwnFault(failure.code)) this.#wasAtFault = true;
        // Its message may quote the url, with the value of a variable that scripts must not see.
        context.log.warn(`fetch: ${failure.code}: ${failure.message}`);
        return refused(`${failure.code} (the job log has the details)`);
      }
      if (probed.lackedBytes > 0) this.#lackedMemory = true;
      const response = responseOf(probed);
      return response === null ? refused('no response came') : { ok: true, response };
    } finally {
      memory.close();
    }
  }
}

const TOO_LONG_CREDENTIALS = `the credentials in the requests of an attempt's scripts have at most ${MAX_CREDENTIAL_CHARS} characters in all`;

const REFUSED: Failure = {
  code: 'SCRIPT_REFUSED',
  message: 'The check has scripts, and EXECUTE_SCRIPTS of the agent is off',
};

const NO_SNIPPET: Failure = {
  code: 'SCRIPT_FAILED',
  message:
    'The check or its group names a snippet, which only a service has: give the script itself, as setupScript or teardownScript',
};

/** null if no response came. */
function responseOf({ sources, responseTimeMs, lackedBytes }: Probed): ScriptResponse | null {
  const { STATUS_CODE: status, HEADERS: headers, TEXT_BODY: body } = sources;
  if (status?.kind !== 'number' || headers?.kind !== 'headers') return null;
  return scriptResponseOf({
    status: status.value,
    headers: headers.headers,
    body: body?.kind === 'text' && lackedBytes === 0 ? body.text : null,
    responseTime: responseTimeMs,
  });
}

function withFailure(probed: Probed, failure: Failure): Probed {
  return {
    ...probed,
    failure,
    detail: (extras) => {
      const { apiCheckResult, ...rest } = probed.detail(extras);
      if (apiCheckResult === undefined || apiCheckResult === null) return rest;
      const { code: requestErrorCode, message: requestError } = failure;
      return { ...rest, apiCheckResult: { ...apiCheckResult, requestError, requestErrorCode } };
    },
  };
}
