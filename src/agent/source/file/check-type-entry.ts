import { CHECK_SHAPES } from '../../../model/check/check.ts';
import { CHECK_TYPES, RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../model/enums.ts';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { isMapping, type RawMapping } from '../common/raw-mapping.ts';
import { keysAt } from '../common/schema-info.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { shownValue, unknownKeyText } from './schema-issue.ts';

/** Types to suggest instead of others that do not exist; the last one accepts the most fields. */
const TYPES_BY_OTHER_NAMES: Readonly<Record<string, readonly RunnableCheckType[]>> = {
  HTTP: ['URL', 'API'],
  HTTPS: ['URL', 'API'],
  PING: ['ICMP'],
};
/** Fields of the request by which a type is guessed; API checks accept all fields of URL checks. */
const TYPES_BY_FIELD: Readonly<Record<string, RunnableCheckType>> = {
  url: 'API',
  port: 'TCP',
  pingCount: 'ICMP',
  query: 'DNS',
};
const TOP_KEYS = [
  ...new Set(['id', ...RUNNABLE_CHECK_TYPES.flatMap((type) => keysAt(CHECK_SHAPES[type], []))]),
];
const TYPES_TEXT = `one of ${RUNNABLE_CHECK_TYPES.join(', ')}`;

/** The checkType of an entry of `checks`; null if a problem was reported. */
export function readCheckType(
  raw: RawMapping,
  entryPath: DocumentPath,
  of: string,
  report: ProblemReporter,
): RunnableCheckType | null {
  const { checkType } = raw;
  const path = [...entryPath, 'checkType'];
  const runnable = RUNNABLE_CHECK_TYPES.find((type) => type === checkType);
  if (runnable !== undefined) return runnable;
  const slip = checkType === undefined ? keyMeaningType(raw) : null;
  if (slip !== null) {
    report.key([...entryPath, slip], of, unknownKeyText(slip, TOP_KEYS));
  } else if (checkType === undefined) {
    report.value(path, of, `is missing; it must be ${TYPES_TEXT}`);
  } else if (checkType === 'HEARTBEAT') {
    const why = 'is HEARTBEAT, which is passive: it waits for pings and there is nothing to run';
    report.value(path, of, `${why}; it must be ${TYPES_TEXT}`);
  } else if (CHECK_TYPES.some((type) => type === checkType)) {
    report.value(
      path,
      of,
      `is ${String(checkType)}, which this agent does not run; it must be ${TYPES_TEXT}`,
    );
  } else {
    const meant = typesMeant(checkType);
    const hint = meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`;
    report.value(path, of, `must be ${TYPES_TEXT}${shownValue(checkType, path)}${hint}`);
  }
  return null;
}

/** A misspelt key for checkType; null if there is none. */
function keyMeaningType(raw: RawMapping): string | null {
  const unknown = Object.keys(raw).filter((key) => !TOP_KEYS.includes(key));
  return unknown.find((key) => nearestName(key, TOP_KEYS) === 'checkType') ?? null;
}

function typesMeant(given: unknown): readonly RunnableCheckType[] {
  if (typeof given !== 'string') return [];
  const upper = given.toUpperCase();
  if (Object.hasOwn(TYPES_BY_OTHER_NAMES, upper)) return TYPES_BY_OTHER_NAMES[upper] ?? [];
  const nearest = nearestName(given, RUNNABLE_CHECK_TYPES);
  return RUNNABLE_CHECK_TYPES.filter((type) => type === nearest);
}

/**
 * The type by which the other fields of a check without a valid checkType are judged; null if
 * it cannot be guessed.
 */
export function likelyType({ checkType, request }: RawMapping): RunnableCheckType | null {
  if (CHECK_TYPES.some((type) => type === checkType)) return null;
  const meant = typesMeant(checkType).at(-1);
  if (meant !== undefined) return meant;
  const fields = isMapping(request) ? Object.keys(request) : [];
  const types = fields.flatMap((field) =>
    Object.hasOwn(TYPES_BY_FIELD, field) ? (TYPES_BY_FIELD[field] ?? []) : [],
  );
  // DNS checks have a port, too.
  return types.find((type) => type === 'DNS') ?? types[0] ?? null;
}
