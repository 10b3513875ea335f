import { messageOf } from '../../runtime/errors.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { type ErrorsRequest, errorsResponseSchema } from '../../wire/v1/error-report.ts';
import { MAX_ERROR_REPORTS, MAX_REQUEST_BYTES, PATHS } from '../../wire/v1/limits.ts';
import type { ServiceFailure } from '../service-client/service-failure.ts';
import { sourcesNow, sourcesOf } from './confirmed-frames.ts';
import { type Crash, type CrashedProcess, CrashFile } from './crash-file.ts';
import type { ErrorReports, ErrorReportsOptions, ReportingParts } from './error-reports-port.ts';
import {
  type CountedFault,
  type ErrorReport,
  type Fault,
  faultKey,
  readFault,
  toErrorReport,
} from './fault.ts';
import { HourlyAllowance } from './hourly-allowance.ts';
import { WaitingFaults } from './waiting-faults.ts';

export { discardReports } from './disabled-reports.ts';
export type { ErrorReports } from './error-reports-port.ts';

/** The delay between an error and its report: errors that follow are in the same request. */
const GATHER_MS = 5_000;
/** The least time between two requests. */
const PACE_MS = 60_000;
const TIMEOUT_MS = 15_000;
/** Adds reports to a request until they have this many bytes. A single report has fewer. */
const MAX_BYTES = MAX_REQUEST_BYTES / 2;
/** The time limit of all requests at the end of the process together. */
const FLUSH_LIMIT_MS = 2_000;
const MAX_LAST_REQUESTS = 3;

export function createErrorReports(options: ErrorReportsOptions): ErrorReports {
  return new Reporter(options);
}

/** One request. `settled`: the service has accepted or permanently refused it; else `putBack`. */
interface Batch {
  readonly sender: CrashedProcess;
  readonly reports: readonly ErrorReport[];
  settled(): Promise<void>;
  putBack(): void;
}

class Reporter implements ErrorReports {
  readonly #options: ErrorReportsOptions;
  readonly #sender: CrashedProcess;
  readonly #waiting = new WaitingFaults();
  readonly #crashes: CrashFile | null;
  readonly #allowance: HourlyAllowance;
  /** Keys by noted error. */
  readonly #noted = new WeakMap<object, string>();
  readonly #recorded = new WeakSet<object>();
  #parts: ReportingParts | null = null;
  /** Whether the last request failed. */
  #hasFailed = false;
  #wake = (): void => {};

  constructor(options: ErrorReportsOptions) {
    const { clock, dataDir, log, version } = options;
    const { version: node, platform, arch } = process;
    this.#options = options;
    this.#sender = { version, node, platform, arch };
    this.#crashes = dataDir === null ? null : new CrashFile({ dataDir, log });
    this.#allowance = new HourlyAllowance(clock);
  }

  note(error: unknown): void {
    // An error occurs once, however often it is logged, and a crash is logged as well.
    if (isObject(error) && (this.#noted.has(error) || this.#recorded.has(error))) return;
    const fault = this.#read(error);
    if (fault === null) return;
    if (isObject(error)) this.#noted.set(error, faultKey(fault));
    this.#waiting.add(fault, this.#options.clock.wallMs());
    this.#wake();
  }

  recordCrash(error: unknown): void {
    if (isObject(error) && this.#recorded.has(error)) return;
    if (this.#crashes === null) {
      this.note(error);
      return;
    }
    const counted = this.#countedOf(error);
    if (isObject(error)) this.#recorded.add(error);
    if (counted === null) return;
    const report = toErrorReport(counted, sourcesNow(counted.frames));
    this.#crashes.add({ sender: this.#sender, report });
    this.#wake();
  }

  async run(parts: ReportingParts, signal: AbortSignal): Promise<void> {
    this.#parts = parts;
    try {
      await this.#report(parts, signal);
    } catch (error) {
      // The agent works without reports.
      const { log } = this.#options;
      log.debug({ reason: messageOf(error) }, 'errors of the agent are not reported any more');
    }
  }

  async flush(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const cancel = clock.after(FLUSH_LIMIT_MS, () => limit.abort());
    const inTime = AbortSignal.any([signal, limit.signal]);
    try {
      await this.#sendRest(inTime);
      if (this.#crashes !== null) await isInTime(this.#crashes.written, inTime);
    } finally {
      cancel();
    }
  }

  async #report(parts: ReportingParts, signal: AbortSignal): Promise<void> {
    if (this.#crashes !== null && !(await isInTime(this.#crashes.read(), signal))) return;
    const { clock } = this.#options;
    let notBeforeMs = Number.NEGATIVE_INFINITY;
    while (await this.#waitForSome(signal)) {
      const pauseMs = Math.max(GATHER_MS, notBeforeMs - clock.monotonicMs());
      if (!(await sleep(clock, pauseMs, signal))) return;
      const { waitMs } = await this.#send(parts, TIMEOUT_MS, signal);
      notBeforeMs = clock.monotonicMs() + Math.max(PACE_MS, waitMs);
    }
  }

  async #sendRest(signal: AbortSignal): Promise<void> {
    const parts = this.#parts;
    // Another request right after a failure would only delay the end.
    if (parts === null || this.#hasFailed) return;
    for (let request = 0; request < MAX_LAST_REQUESTS && this.#hasSome; request += 1) {
      if (!(await this.#send(parts, FLUSH_LIMIT_MS, signal)).isTaken) return;
    }
  }

  get #hasSome(): boolean {
    return this.#waiting.size > 0 || (this.#crashes?.crashes.length ?? 0) > 0;
  }

  /** Resolves true when there is something to report, false when the signal aborts. */
  async #waitForSome(signal: AbortSignal): Promise<boolean> {
    if (this.#hasSome) return !signal.aborted;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return await isInTime(woken, signal);
  }

  /** Null if the thrown value itself throws when it is read. */
  #read(error: unknown): Fault | null {
    try {
      return readFault(error);
    } catch {
      this.#options.log.debug('an error of the agent cannot be read, and is not reported');
      return null;
    }
  }

  /** Null if it was reported already. */
  #countedOf(error: unknown): CountedFault | null {
    const key = isObject(error) ? this.#noted.get(error) : undefined;
    if (key !== undefined) return this.#waiting.take(key);
    const fault = this.#read(error);
    if (fault === null) return null;
    const nowMs = this.#options.clock.wallMs();
    return { ...fault, count: 1, firstAtMs: nowMs, lastAtMs: nowMs };
  }

  async #send(
    { client, agentId }: ReportingParts,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly isTaken: boolean; readonly waitMs: number }> {
    const { log } = this.#options;
    const allowed = Math.min(MAX_ERROR_REPORTS, this.#allowance.left);
    if (allowed === 0) return { isTaken: false, waitMs: this.#allowance.renewedInMs };
    const batch = this.#crashBatch(allowed) ?? (await this.#waitingBatch(allowed));
    const dropped = this.#waiting.takeDropped();
    if (dropped > 0) log.debug({ errors: dropped }, 'too many kinds of errors to report them all');
    const { sender, reports } = batch;
    const answer = await client.post(
      PATHS.errors,
      { agentId, ...sender, reports: [...reports] } satisfies ErrorsRequest,
      { timeoutMs, signal, schema: errorsResponseSchema },
    );
    const isTaken = answer.ok || isRefusedForGood(answer.failure);
    // A request that the end of the agent cut off did not fail.
    this.#hasFailed = !isTaken && !signal.aborted;
    if (isTaken) {
      this.#allowance.take(reports.length);
      log.debug({ errors: reports.length }, 'errors of the agent were reported');
      await batch.settled();
    } else {
      log.debug({ errors: reports.length }, `errors of the agent wait: ${answer.failure.message}`);
      batch.putBack();
    }
    return { isTaken, waitMs: answer.ok ? 0 : (answer.failure.retryAfterMs ?? 0) };
  }

  /** The crashes of one process, or of several of the same release. */
  #crashBatch(maxReports: number): Batch | null {
    const file = this.#crashes;
    const [first] = file?.crashes ?? [];
    if (file === null || first === undefined) return null;
    const { sender } = first;
    const key = JSON.stringify(sender);
    const isSame = (other: Crash): boolean => JSON.stringify(other.sender) === key;
    const crashes = file.crashes.filter(isSame).slice(0, maxReports);
    return {
      sender,
      reports: crashes.map(({ report }) => report),
      settled: () => file.forget(crashes),
      putBack: () => {},
    };
  }

  async #waitingBatch(maxReports: number): Promise<Batch> {
    const reports: ErrorReport[] = [];
    const taken: CountedFault[] = [];
    for (let bytes = 0; reports.length < maxReports && bytes < MAX_BYTES; ) {
      const fault = this.#waiting.take();
      if (fault === null) break;
      const report = toErrorReport(fault, await sourcesOf(fault.frames));
      taken.push(fault);
      reports.push(report);
      bytes += JSON.stringify(report).length;
    }
    return {
      sender: this.#sender,
      reports,
      settled: async () => {},
      putBack: () => this.#waiting.putBack(taken),
    };
  }
}

/** False if the agent's first poll is still to come, or is refused for now. */
function isRefusedForGood({ kind, attributes }: ServiceFailure): boolean {
  return kind === 'refused' && attributes.reason !== 'unknown_agent';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
