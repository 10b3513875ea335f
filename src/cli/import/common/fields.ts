import { isMapping, type RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { ImportReport } from './import-report.ts';
import { below, type Origin } from './source-file.ts';

/** Reads values whose types were not validated. A value of a wrong type counts as missing. */

export function mappingOf(value: unknown): RawMapping {
  // Excludes `!!binary` of YAML, whose bytes would count as fields.
  return isMapping(value) && !(value instanceof Uint8Array) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Converts numbers and booleans to text, as the parsers of Go accept them; null for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** The texts of a list; one text counts as a list of one. */
export function textsOf(value: unknown): readonly string[] {
  return [value].flat().flatMap((item) => textOf(item) ?? []);
}

export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
}

/** `yes` and `on` are true in YAML 1.1; databases have 1. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || /^(?:true|yes|on|1)$/i.test(textOf(value) ?? '');
}

/** Whether a value is missing, empty or switched off, so that omitting it changes nothing. */
export function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMapping(value) && Object.keys(value).length === 0;
}

/** Why a field is left out, and what to do instead. */
export type Reason = readonly [why: string, advice: string];

/** The advice for a difference that needs no action. It becomes a note, which does not count as left out. */
export const NOTHING_NEEDED = 'nothing is needed';

const UNKNOWN: Reason = [
  'this import does not know the field',
  'see whether a field of the check file does the same',
];

/**
 * Reports every field that is set and not in `handled`, so that nothing is lost silently.
 *
 * @param reasons keyed by field; fields without a reason are unknown
 */
export function reportOthers(
  mapping: RawMapping,
  origin: Origin,
  report: ImportReport,
  {
    handled,
    reasons,
  }: {
    readonly handled: readonly string[];
    readonly reasons: Readonly<Record<string, Reason>>;
  },
): void {
  for (const [key, value] of Object.entries(mapping)) {
    if (handled.includes(key) || isUnset(value)) continue;
    const [why, advice] = Object.hasOwn(reasons, key) ? (reasons[key] ?? UNKNOWN) : UNKNOWN;
    reportReason(below(origin, key), [why, advice], report);
  }
}

export function reportReason(origin: Origin, [why, advice]: Reason, report: ImportReport): void {
  if (advice === NOTHING_NEEDED) report.note(origin, `${why}; ${advice}`);
  else report.leftOut(origin, why, advice);
}
