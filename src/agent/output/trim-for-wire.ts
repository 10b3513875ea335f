import type { LogEntry } from '../../model/result/details/check-detail.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { storableText } from '../../runtime/text/storable-text.ts';
import { checkResultSchema, DETAIL_FIELDS } from '../../wire/v1/check-result.ts';
import { MAX_BATCH_BYTES } from '../../wire/v1/limits.ts';
import { passesQuickValidation } from './quick-wire-validation.ts';

/** Maximum size of a result's JSON: several fit into a batch, and into the spool's memory. */
export const MAX_RESULT_BYTES = MAX_BATCH_BYTES / 4;

export interface TrimmedResult {
  /** The JSON that goes to the service. */
  readonly body: Buffer;
  /** False if the service would refuse it whatever is cut, which is a fault of the agent. */
  readonly isValid: boolean;
}

interface Level {
  /** UTF-16 units of each text. */
  readonly maxChars: number;
  /** Items of each list, and pairs of each record. */
  readonly maxItems: number;
}

/** Limits to try one after the other until the result fits. */
const LEVELS: readonly Level[] = [
  { maxChars: 65_536, maxItems: 5_000 },
  { maxChars: 16_384, maxItems: 1_000 },
  { maxChars: 4_096, maxItems: 256 },
  { maxChars: 1_024, maxItems: 100 },
  { maxChars: 256, maxItems: 20 },
];

/** The schema's bound for texts at the top level of a result; others there are not cut. */
const MAX_NAME_CHARS = 1024;
const MAX_JOB_LOG = 256;

/**
 * Cuts a result to MAX_RESULT_BYTES and the bounds of the protocol: a target may answer with
 * megabytes of headers, redirects or records. The job log says so; verdict and ids stay as they
 * are.
 *
 * @throws TypeError if the result cannot be JSON
 */
export function trimForWire(result: CheckResult): TrimmedResult {
  const whole = Buffer.from(JSON.stringify(result));
  if (whole.length <= MAX_RESULT_BYTES && isAccepted(result)) return { body: whole, isValid: true };
  for (const level of LEVELS) {
    const body = bodyOf(cutTo(result, level));
    if (body !== null) return { body, isValid: true };
  }
  const bare = bodyOf(withoutResponse(result));
  return bare === null ? { body: whole, isValid: false } : { body: bare, isValid: true };
}

/** null if the result does not fit. */
function bodyOf(result: CheckResult): Buffer | null {
  const body = Buffer.from(JSON.stringify(result));
  return body.length <= MAX_RESULT_BYTES && isAccepted(result) ? body : null;
}

function isAccepted(result: CheckResult): boolean {
  return passesQuickValidation(result) || checkResultSchema.safeParse(result).success;
}

function cutTo(result: CheckResult, level: Level): CheckResult {
  const { maxChars, maxItems } = level;
  const note = `This result was too large to be sent: its texts are cut at ${maxChars} characters, its lists at ${maxItems} entries`;
  return changed(result, note, (detail) => {
    const response = isObject(detail.response) ? withFittingBody(detail.response, maxChars) : null;
    return asObject(cutValue({ ...detail, response }, level));
  });
}

function withoutResponse(result: CheckResult): CheckResult {
  const note = 'This result was too large to be sent: its response and assertions are left out';
  return changed(result, note, (detail) => {
    const { timings: _, timingPhases: __, tls: ___, ...rest } = detail;
    // Only the response of HTTP may be null.
    const kept = result.apiCheckResult === null ? detail : rest;
    return { ...kept, response: null, assertions: [], jobLog: [], jobAssets: [] };
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** The result with its details changed, and the note in its job log. */
function changed(
  result: CheckResult,
  note: string,
  change: (detail: Fields) => Fields,
): CheckResult {
  const name = storableText(result.name.slice(0, MAX_NAME_CHARS));
  const field = DETAIL_FIELDS[result.checkType];
  const detail = result[field];
  if (detail === null) return { ...result, name };
  const { jobLog, ...rest } = change({ ...detail });
  const entries: readonly unknown[] = Array.isArray(jobLog) ? jobLog : [];
  const entry: LogEntry = { time: Date.parse(result.stoppedAt), level: 'warn', msg: note };
  const log = [...entries.slice(0, MAX_JOB_LOG - 1), entry];
  return { ...result, name, [field]: { ...rest, jobLog: log } };
}

/** Cuts a text to its start, and omits base64, whose start is of no use. */
function withFittingBody(response: Fields, maxChars: number): Fields {
  const { body, bodyEncoding } = response;
  if (typeof body !== 'string' || body.length <= maxChars) return response;
  return bodyEncoding === 'base64'
    ? { ...response, body: null, bodyEncoding: 'omitted' }
    : { ...response, bodyCut: true };
}

function cutValue(value: unknown, level: Level): unknown {
  const { maxChars, maxItems } = level;
  if (typeof value === 'string') return storableText(value.slice(0, maxChars));
  if (typeof value === 'number') return Number.isFinite(value) ? value : 0;
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => cutValue(item, level));
  if (!isObject(value)) return value;
  const pairs = Object.entries(value).filter(([key]) => key.length <= maxChars);
  return Object.fromEntries(
    pairs.slice(0, maxItems).map(([key, item]) => [key, cutValue(item, level)]),
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Fields {
  return isObject(value) ? value : {};
}
