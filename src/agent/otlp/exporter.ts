import { hostname } from 'node:os';
import type { CheckResult } from '../../model/result/result.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import type { OtlpConfig } from '../config/otlp.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import type { AgentSecrets } from '../secrets/agent-secrets.ts';
import { shutdownLimit } from '../shutdown-limit.ts';
import type { ExportDropReason, ExportSignal } from './export-drops.ts';
import { type ExportRequest, metricRequests } from './metric-requests.ts';
import { OtlpClient } from './otlp-client.ts';
import { attributesOf, OWN_TEXTS, type Sender, tracesRequest } from './otlp-json.ts';
import { RunSpans } from './run-spans.ts';
import { WaitingSpans } from './waiting-spans.ts';

export interface ExporterOptions {
  readonly config: OtlpConfig;
  readonly metrics: Pick<AgentMetrics, 'checkMetrics' | 'exportDropped'>;
  readonly secrets: Pick<AgentSecrets, 'scrubber'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Distinguishes the agents of a host. */
  readonly healthPort: number;
  /** See `traceKeyOf`. */
  readonly traceSalt: string | null;
  /** A number from 0 to under 1, for jitter. */
  readonly random?: () => number;
}

export interface OtlpExporter {
  /** Takes every result, ATTEMPT and FINAL. Neither waits nor throws. */
  result(result: CheckResult): void;
  /**
   * Exports until the signal aborts, and then once more what is left, for FLUSH_LIMIT_MS at most,
   * or until `now` aborts. Never rejects: checks continue without it.
   */
  run(signal: AbortSignal, now: AbortSignal): Promise<void>;
}

interface Limit {
  readonly signal: AbortSignal;
  /** Monotonic instant at which the signal aborts at the latest. */
  readonly endMs: number;
}

/** Maximum number of results in a request: about a quarter of a megabyte of JSON. */
const MAX_BATCH = 100;
/** Milliseconds from the first result of a request until it is sent. */
const GATHER_MS = 5_000;
const BACKOFF = { minMs: 1_000, maxMs: 60_000 } as const;
const FLUSH_LIMIT_MS = 2_000;
const LOG_PERIOD_MS = 600_000;

export function createOtlpExporter(options: ExporterOptions): OtlpExporter {
  return new Exporter(options);
}

class Exporter implements OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #client: OtlpClient;
  readonly #sender: Sender;
  readonly #throttled: ThrottledLog;
  readonly #backoffs: Readonly<Record<ExportSignal, Backoff>>;
  /** Monotonic instant before which no request is sent: backoff, or the receiver's Retry-After. */
  readonly #notBeforeMs: Record<ExportSignal, number> = { metrics: 0, traces: 0 };
  readonly #runSpans: RunSpans;
  readonly #waiting = new WaitingSpans();
  #wake = (): void => {};

  constructor(options: ExporterOptions) {
    const { config, clock, log, version, secrets, healthPort, random = Math.random } = options;
    this.#runSpans = new RunSpans(options.traceSalt);
    this.#options = options;
    const scrub = (text: string): string => secrets.scrubber.text(text);
    this.#client = new OtlpClient({ config, clock, version, scrub });
    const instance = `${hostname()}:${healthPort}`;
    const own = { 'service.version': version, 'service.instance.id': instance };
    this.#sender = {
      resource: { attributes: attributesOf({ ...own, ...config.resource }) },
      scope: { name: 'vedette', version },
    };
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
    const backoff = (): Backoff => new Backoff({ ...BACKOFF, random });
    this.#backoffs = { metrics: backoff(), traces: backoff() };
  }

  result(result: CheckResult): void {
    if (!this.#options.config.traces) return;
    try {
      this.#dropped('traces', this.#waiting.push(this.#runSpans.endingWith(result)), 'queue');
    } catch (error) {
      this.#fault('traces', error);
    }
    this.#wake();
  }

  async run(signal: AbortSignal, now: AbortSignal): Promise<void> {
    const { config, log } = this.#options;
    const { endpoint, traces } = config;
    const what = traces ? 'metrics and traces of checks' : 'metrics of checks';
    log.info({ endpoint }, `${what} are exported by OTLP`);
    // A fault in one does not end the other.
    await Promise.all([
      this.#exportMetrics(signal, now).catch((error) => this.#fault('metrics', error)),
      traces && this.#exportTraces(signal, now).catch((error) => this.#fault('traces', error)),
    ]);
    await this.#client.close();
  }

  async #exportMetrics(signal: AbortSignal, now: AbortSignal): Promise<void> {
    const { clock, config } = this.#options;
    const { metricIntervalMs: intervalMs } = config;
    let dueMs = clock.monotonicMs() + intervalMs;
    while (await sleep(clock, dueMs - clock.monotonicMs(), signal)) {
      // Missed intervals are skipped.
      dueMs = Math.max(dueMs, clock.monotonicMs() - intervalMs) + intervalMs;
      const leftMs = dueMs - clock.monotonicMs();
      const lost = await within(clock, leftMs, signal, (limit) => this.#sendMetrics(limit));
      // At the end they are sent again.
      if (!signal.aborted) this.#dropped('metrics', lost, 'late');
    }
    const lost = await this.#flush(now, (limit) => this.#sendMetrics(limit));
    this.#dropped('metrics', lost, 'stopped');
  }

  /** @returns the data points for which no time was left */
  async #sendMetrics(limit: Limit): Promise<number> {
    const { metrics, clock } = this.#options;
    const wallMs = clock.wallMs();
    const requests = metricRequests(metrics.checkMetrics(), { sender: this.#sender, wallMs });
    let lost = 0;
    for (const request of requests) {
      const isSent = lost === 0 && (await this.#deliver('metrics', request, limit));
      if (!isSent) lost += request.count;
    }
    return lost;
  }

  async #exportTraces(signal: AbortSignal, now: AbortSignal): Promise<void> {
    const limit = { signal, endMs: Number.POSITIVE_INFINITY };
    let left: ExportRequest | null = null;
    while (left === null && (await this.#gather(signal))) {
      const batch = this.#take();
      const isDone = batch.count === 0 || (await this.#deliver('traces', batch, limit));
      if (!isDone) left = batch;
    }
    await this.#flush(now, (last) => this.#flushTraces(left ?? this.#take(), last));
  }

  /** Sends the rest when the agent stops, beginning with the batch in progress. */
  async #flushTraces(first: ExportRequest, limit: Limit): Promise<void> {
    for (let batch = first; batch.count > 0; batch = this.#take()) {
      if (await this.#deliver('traces', batch, limit)) continue;
      const rest = this.#waiting.take(this.#waiting.results).length;
      this.#dropped('traces', batch.count + rest, 'stopped');
    }
  }

  /** Exports once more when the agent stops. */
  async #flush<T>(now: AbortSignal, act: (limit: Limit) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + FLUSH_LIMIT_MS;
    const { signal, cancel } = shutdownLimit(clock, now, FLUSH_LIMIT_MS);
    try {
      return await act({ signal, endMs });
    } finally {
      cancel();
    }
  }

  /**
   * Resolves true when a request is full or its first result has waited for GATHER_MS, false when
   * the signal aborts.
   */
  async #gather(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    if (!(await this.#untilWaiting(1, signal))) return false;
    const full = new AbortController();
    const ended = AbortSignal.any([full.signal, signal]);
    const filling = this.#untilWaiting(MAX_BATCH, ended).then(() => full.abort());
    await sleep(clock, GATHER_MS, ended);
    full.abort();
    await filling;
    return !signal.aborted;
  }

  /** Resolves true when this many results wait, false when the signal aborts. */
  async #untilWaiting(results: number, signal: AbortSignal): Promise<boolean> {
    while (this.#waiting.results < results) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (!(await isInTime(woken, signal))) return false;
    }
    return !signal.aborted;
  }

  #take(): ExportRequest {
    const spans = this.#waiting.take(MAX_BATCH);
    return { body: tracesRequest(this.#sender, spans), count: spans.length };
  }

  /**
   * Sends a request until the receiver accepts or refuses it.
   *
   * @returns false if the limit ended before that, or would end before the next try
   */
  async #deliver(
    kind: ExportSignal,
    { body, count }: ExportRequest,
    { signal, endMs }: Limit,
  ): Promise<boolean> {
    const { clock, secrets } = this.#options;
    const backoff = this.#backoffs[kind];
    let masked: object | null = null;
    for (;;) {
      const waitMs = this.#notBeforeMs[kind] - clock.monotonicMs();
      if (signal.aborted || (waitMs > 0 && this.#notBeforeMs[kind] >= endMs)) return false;
      if (waitMs > 0 && !(await sleep(clock, waitMs, signal))) return false;
      masked ??= secrets.scrubber.deep(body, OWN_TEXTS);
      const outcome = await this.#client.send(kind, masked, signal);
      switch (outcome.kind) {
        case 'stopped':
          return false;
        case 'accepted':
          backoff.reset();
          if (outcome.rejected > 0) this.#refused(kind, outcome.rejected, outcome.problem);
          return true;
        case 'refused':
          backoff.reset();
          this.#refused(kind, count, outcome.problem);
          return true;
        case 'unavailable':
          this.#warn(kind, outcome.problem, `${kind} cannot be exported by OTLP, and wait`);
          this.#notBeforeMs[kind] = clock.monotonicMs() + backoff.next(outcome.retryAfterMs);
      }
    }
  }

  #refused(kind: ExportSignal, count: number, problem: string): void {
    this.#dropped(kind, count, 'refused');
    this.#warn(`${kind} refused`, problem, `the receiver of OTLP refuses ${kind}`);
  }

  #warn(kind: string, problem: string, message: string): void {
    this.#throttled.warn(kind, {}, `${message}: ${problem}`);
  }

  #fault(kind: ExportSignal, error: unknown): void {
    const message = `a fault of the agent; please report it: ${messageOf(error)}`;
    this.#throttled.error(`${kind} fault`, { err: error }, message);
  }

  #dropped(kind: ExportSignal, count: number, reason: ExportDropReason): void {
    if (count > 0) this.#options.metrics.exportDropped(kind, count, reason);
  }
}

/** Runs an action with a signal that aborts after the time limit, or with the given signal. */
async function within<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  act: (limit: Limit) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const endMs = clock.monotonicMs() + limitMs;
  const cancel = clock.after(limitMs, () => limit.abort());
  try {
    return await act({ signal: AbortSignal.any([limit.signal, signal]), endMs });
  } finally {
    cancel();
  }
}
