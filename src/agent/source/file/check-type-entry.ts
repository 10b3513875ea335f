import { CHECK_SHAPES } from '../../../model/check/check.ts';
import {
  CHECK_TYPES,
  RUNNABLE_CHECK_TYPES,
  type RunnableCheckType,
} from '../../../model/vocabulary.ts';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import type { RawMapping } from '../common/check-defaults.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { keysAt } from '../common/schema-info.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { shownValue, unknownKeyText } from './schema-issue.ts';

/** What a check of such a type would be here. */
const TYPES_BY_OTHER_NAMES: Readonly<Record<string, string>> = {
  HTTP: 'URL or API',
  HTTPS: 'URL or API',
  PING: 'ICMP',
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
    const nearest = typeof checkType === 'string' ? typeMeant(checkType) : null;
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    report.value(path, of, `must be ${TYPES_TEXT}${shownValue(checkType, path)}${hint}`);
  }
  return null;
}

/** A misspelt key for checkType; null if there is none. */
function keyMeaningType(raw: RawMapping): string | null {
  const unknown = Object.keys(raw).filter((key) => !TOP_KEYS.includes(key));
  return unknown.find((key) => nearestName(key, TOP_KEYS) === 'checkType') ?? null;
}

function typeMeant(given: string): string | null {
  const upper = given.toUpperCase();
  if (Object.hasOwn(TYPES_BY_OTHER_NAMES, upper)) return TYPES_BY_OTHER_NAMES[upper] ?? null;
  return nearestName(given, RUNNABLE_CHECK_TYPES);
}
