import { rootMessageOf } from '../../model/result/failure-message.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { spanIdOf, traceIdOf, traceKeyOf } from '../../model/result/trace-context.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import { judgedRunOf, phaseSecondsOf } from '../metrics/judged-run.ts';
import { attributesOf, SPAN_KINDS, type Span, STATUS_CODES, unixNano } from './otlp-json.ts';

/** Runs between their first attempt and their end. */
const MAX_OPEN_RUNS = 10_000;
const MAX_TEXT_CHARS = 1_000;

/**
 * Makes the spans of runs (src/agent/README.md, "Export by OTLP"). A run of one attempt is one
 * span. A run of several attempts has a span, and each attempt a span below it. The phases of an
 * attempt are spans below the attempt's.
 */
export class RunSpans {
  /** When a run of several attempts began, epoch milliseconds, by its sequence id. */
  readonly #begun = new LruCache<number>(MAX_OPEN_RUNS);
  readonly #traceSalt: string | null;

  /** @param traceSalt see `traceKeyOf` */
  constructor(traceSalt: string | null) {
    this.#traceSalt = traceSalt;
  }

  /** The spans that end with a result: an ATTEMPT, or the FINAL of a run. */
  endingWith(result: CheckResult): readonly Span[] {
    const { sequenceId, attempts } = result;
    const attempt = attempts + 1;
    const isFinal = result.resultType === 'FINAL';
    const isWhole = isFinal && attempts === 0;
    const startMs = Date.parse(result.startedAt);
    const endMs = Date.parse(result.stoppedAt);
    const traceKey = traceKeyOf(sequenceId, this.#traceSalt);
    const traceId = traceIdOf(traceKey);
    const spanId = spanIdOf(traceKey, attempt);
    const runSpanId = spanIdOf(traceKey);
    const title = `${result.checkType} ${result.name}`.toWellFormed();
    const about = { traceId, endTimeUnixNano: unixNano(endMs), status: statusOf(result) };
    const ofAttempt: Span = {
      ...about,
      spanId,
      ...(isWhole ? {} : { parentSpanId: runSpanId }),
      name: isWhole ? title : `Attempt ${attempt}`,
      kind: SPAN_KINDS.CLIENT,
      startTimeUnixNano: unixNano(startMs),
      attributes: attributesOf({ ...runAttributes(result), ...requestAttributes(result) }),
    };
    const spans = [ofAttempt, ...phaseSpans(result, { traceId, spanId, startMs })];
    if (!isFinal) {
      if (this.#begun.get(sequenceId) === undefined) this.#begun.set(sequenceId, startMs);
      return spans;
    }
    if (isWhole) return spans;
    // Unknown if another location made the first attempt; later than now if the clock was set back.
    const begunMs = Math.min(this.#begun.get(sequenceId) ?? startMs, startMs);
    this.#begun.delete(sequenceId);
    const ofRun: Span = {
      ...about,
      spanId: runSpanId,
      name: title,
      kind: SPAN_KINDS.INTERNAL,
      startTimeUnixNano: unixNano(begunMs),
      attributes: attributesOf(runAttributes(result)),
    };
    return [...spans, ofRun];
  }
}

type Attributes = Readonly<Record<string, string | number | null>>;

function runAttributes(result: CheckResult): Attributes {
  return {
    'vedette.check.id': result.checkId,
    'vedette.check.name': result.name,
    'vedette.check.type': result.checkType,
    'vedette.location': result.runLocation,
    'vedette.result': runResultOf(result),
    'vedette.attempts': result.attempts + 1,
    'error.type': judgedRunOf(result).errorCode,
  };
}

/** Attributes by OpenTelemetry's semantic conventions for HTTP clients. */
function requestAttributes({ apiCheckResult }: CheckResult): Attributes {
  if (apiCheckResult === null) return {};
  const { request, response } = apiCheckResult;
  return {
    'http.request.method': request.method,
    'url.full': shortened(request.url),
    'http.response.status_code': response?.status ?? null,
    'network.peer.address': response?.ip ?? null,
  };
}

/**
 * Omits phases that took no time: they were not reached. Times of redirects are summed, so each
 * phase begins at the end of the previous one.
 */
function phaseSpans(
  result: CheckResult,
  {
    traceId,
    spanId,
    startMs,
  }: { readonly traceId: string; readonly spanId: string; readonly startMs: number },
): readonly Span[] {
  let atMs = startMs;
  return phaseSecondsOf(judgedRunOf(result))
    .filter(([, seconds]) => seconds > 0)
    .map(([phase, seconds]): Span => {
      const beganMs = atMs;
      atMs += seconds * 1000;
      return {
        traceId,
        spanId: spanIdOf(spanId, phase),
        parentSpanId: spanId,
        name: phase,
        kind: SPAN_KINDS.INTERNAL,
        startTimeUnixNano: unixNano(beganMs),
        endTimeUnixNano: unixNano(atMs),
        attributes: [],
        status: { code: STATUS_CODES.UNSET },
      };
    });
}

function statusOf(result: CheckResult): Span['status'] {
  const outcome = runResultOf(result);
  if (outcome !== 'failed' && outcome !== 'error') return { code: STATUS_CODES.UNSET };
  const message = rootMessageOf(result);
  return { code: STATUS_CODES.ERROR, ...(message === null ? {} : { message: shortened(message) }) };
}

function shortened(text: string): string {
  const start = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text;
  return start.toWellFormed();
}
