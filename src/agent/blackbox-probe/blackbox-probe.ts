import { randomUUID } from 'node:crypto';
import type { Check } from '../../model/check/check.ts';
import type { MissedReason } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { detailOf } from '../../model/result/result-summary.ts';
import { hostAndPort } from '../config/parsers.ts';
import { type HealthResponse, textResponse } from '../health/readiness-and-liveness.ts';
import type { RunnerParts } from '../run/run.ts';
import { runCheck } from '../run/run-check.ts';
import { RunPermits } from '../scheduler/permits/permits.ts';
import { probeMetricsText } from './probe-metrics.ts';
import { withTarget } from './probe-target.ts';

/** A request of Prometheus to probe a target. */
export interface ProbeRequest {
  /** `target`, `module` and `debug`. */
  readonly query: URLSearchParams;
  /** The header X-Prometheus-Scrape-Timeout-Seconds; null without it. */
  readonly timeoutSeconds: string | null;
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
}

/** The default of the blackbox exporter, on which its scrape configurations rely. */
const DEFAULT_MODULE = 'http_2xx';
const MAX_PROBES = 50;
const MAX_PROBE_MS = 60_000;
/** A margin for sending the response, so that Prometheus gets it before its own limit. */
const MARGIN_MS = 500;
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * `GET /probe`: runs a check of the check file once, with the target of the request, and answers
 * with its metrics (src/agent/README.md, "Probes for Prometheus"). Like trials, probes send no
 * result, make no retries and gather no evidence. Bounded in number and in time.
 */
export class BlackboxProbe {
  readonly #parts: RunnerParts;
  readonly #permits = new RunPermits({ concurrency: MAX_PROBES, maxWaiting: 0 });
  readonly #active = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #modules: ReadonlyMap<string, Check> = new Map();

  constructor(parts: RunnerParts) {
    // A target that never answers must not cause a warning of a missed run at each scrape.
    const log = parts.log.child({}, { level: 'error' });
    this.#parts = { ...parts, log, handover: null, artifacts: null, evidence: null };
  }

  /** The checks that are modules from now on, deactivated ones included. */
  setChecks(checks: readonly Check[]): void {
    // By name too: `icmp`, a usual module of the exporter, cannot be an id.
    this.#modules = new Map([
      ...checks.toReversed().map((check) => [check.name, check] as const),
      ...checks.map((check) => [check.id, check] as const),
    ]);
  }

  async answer(request: ProbeRequest): Promise<HealthResponse> {
    const { query, timeoutSeconds } = request;
    const id = query.get('module') ?? DEFAULT_MODULE;
    const target = query.get('target') ?? '';
    const module = this.#modules.get(id);
    if (target === '') return textResponse(400, 'the parameter target is missing');
    if (query.has('hostname')) return textResponse(400, 'the parameter hostname is not supported');
    if (module === undefined) {
      return textResponse(
        400,
        'the parameter module must be the id or the name of a check of the check file',
      );
    }
    const limitMs = limitMsOf(timeoutSeconds);
    if (limitMs === null) {
      return textResponse(400, 'X-Prometheus-Scrape-Timeout-Seconds must be a number over 0');
    }
    if (module.checkType === 'TCP' && !hostAndPort(target).ok) {
      // The module may have the placeholder of an import as its port.
      const problem = 'target must have a port for a TCP check, for example db.example:5432';
      return textResponse(400, problem);
    }
    const retargeted = withTarget(module, target);
    if (!retargeted.ok) return textResponse(400, retargeted.problem);
    if (this.#stop.signal.aborted) return textResponse(503, 'the agent is stopping');
    if (this.#active.size >= MAX_PROBES) {
      return textResponse(503, `too many probes at once: ${MAX_PROBES} at most`);
    }
    const probing = this.#probe(retargeted.check, { ...request, limitMs });
    this.#active.add(probing);
    try {
      return await probing;
    } finally {
      this.#active.delete(probing);
    }
  }

  /** Ends all probes, and refuses further ones. Never rejects. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#active);
  }

  async #probe(
    check: Check,
    { limitMs, query, signal: gone }: ProbeRequest & { readonly limitMs: number },
  ): Promise<HealthResponse> {
    const { clock } = this.#parts;
    const limit = new AbortController();
    const cancel = clock.after(limitMs, () => limit.abort());
    const startMs = clock.monotonicMs();
    const ended: { result: CheckResult | null; missed: MissedReason | null; isStarved: boolean } = {
      result: null,
      missed: null,
      isStarved: false,
    };
    const onStarved = (): void => {
      ended.isStarved = true;
      this.#parts.onStarved();
    };
    const sink = {
      result: (one: CheckResult): void => {
        ended.result = one;
      },
      missed() {},
    };
    try {
      await this.#permits.take(async (permit) => {
        const run = {
          // One attempt: Prometheus asks again soon.
          check: { ...check, retryStrategy: null, doubleCheck: false },
          slotMs: clock.wallMs(),
          // With a sequence id, the run is not that of a slot, which could be skipped or missed.
          sequenceId: randomUUID(),
          retriesMade: 0,
          firstStartedAtMs: null,
          signal: AbortSignal.any([limit.signal, gone, this.#stop.signal]),
          permit,
        };
        ended.missed = await runCheck(run, { ...this.#parts, sink, onStarved });
      });
    } finally {
      cancel();
    }
    const { result, missed, isStarved } = ended;
    // An error of the agent itself does not judge the target: the scrape fails.
    if (result?.hasErrors === true) {
      const code = detailOf(result)?.requestErrorCode ?? 'INTERNAL_ERROR';
      return textResponse(503, `the probe has no verdict: ${code}`);
    }
    // At the limit, a repeated attempt has had only a part of the time.
    if (missed !== null && (isStarved || !limit.signal.aborted)) {
      const reason = limit.signal.aborted ? 'agent_starved' : missed;
      return textResponse(503, `the probe has no verdict: ${reason}`);
    }
    const durationMs = clock.monotonicMs() - startMs;
    const metrics = probeMetricsText({ check, result, durationMs });
    if (query.get('debug') === 'true') return textResponse(200, debugText(result, metrics));
    return { status: 200, contentType: CONTENT_TYPE, body: metrics };
  }
}

/** Text for users, with the headings of the exporter. The job log is scrubbed, as in results. */
function debugText(result: CheckResult | null, metrics: string): string {
  const entries = result === null ? [] : (detailOf(result)?.jobLog ?? []);
  const lines = entries.map(
    ({ time, level, msg }) => `${new Date(time).toISOString()} ${level} ${msg}`,
  );
  if (result === null) lines.push('The probe was ended by its time limit.');
  return [
    'Logs for the probe:',
    ...lines,
    '',
    'Metrics that would have been returned:',
    metrics.trimEnd(),
  ].join('\n');
}

/** Milliseconds; null if the header is invalid. */
function limitMsOf(timeoutSeconds: string | null): number | null {
  if (timeoutSeconds === null) return MAX_PROBE_MS;
  const timeoutMs = Number(timeoutSeconds) * 1000;
  if (!(timeoutMs > 0)) return null;
  return Math.min(MAX_PROBE_MS, Math.max(timeoutMs - MARGIN_MS, timeoutMs / 2));
}
