import { CHECK_SHAPES } from '../../../model/check/check.ts';
import {
  MERGED_FIELDS,
  type MergedField,
  WITHOUT_DEFAULT,
} from '../../../model/check-file/defaults.ts';
import type { RunnableCheckType } from '../../../model/enums.ts';
import type { DocumentPath } from './file-problem.ts';
import { isMapping, type RawMapping } from './raw-mapping.ts';
import { keysAt } from './schema-info.ts';

const TYPES = Object.keys(CHECK_SHAPES) as RunnableCheckType[];

/** The defaults of files without any. */
export const NO_DEFAULTS: RawMapping = {};

/** The fields that `defaults` may contain at this path: all that any check type has there. */
export function knownDefaults(path: DocumentPath): readonly string[] {
  const known = new Set(TYPES.flatMap((type) => keysAt(CHECK_SHAPES[type], path)));
  if (path.length === 0) for (const key of WITHOUT_DEFAULT) known.delete(key);
  return [...known];
}

/**
 * The check with defaults: a default applies if the check omits the field and its type has it.
 * `request`, `retryStrategy` and `alertSettings` are merged key by key.
 */
export function withDefaults(
  raw: RawMapping,
  defaults: RawMapping,
  type: RunnableCheckType,
): RawMapping {
  if (defaults === NO_DEFAULTS) return raw;
  const merged: Record<string, unknown> = {};
  for (const [key, value] of applicable(defaults, [], type)) {
    merged[key] =
      isMergedField(key) && isMapping(value)
        ? Object.fromEntries(applicable(value, [key], type))
        : value;
  }
  for (const [key, value] of Object.entries(raw)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    const own =
      isMergedField(key) && isMapping(value) && isMapping(below) ? { ...below, ...value } : value;
    Object.defineProperty(merged, key, { value: own, enumerable: true, configurable: true });
  }
  return merged;
}

function applicable(
  defaults: RawMapping,
  path: DocumentPath,
  type: RunnableCheckType,
): [string, unknown][] {
  const known = keysAt(CHECK_SHAPES[type], path);
  return Object.entries(defaults).filter(
    ([key]) => known.includes(key) && !(key === 'onlyOn' && type !== 'URL' && type !== 'API'),
  );
}

/** Whether the merged value at the path comes from the defaults. */
export function isFromDefaults(raw: RawMapping, defaults: RawMapping, path: DocumentPath): boolean {
  return !hasValueAt(raw, path) && hasValueAt(defaults, path);
}

/** Only two levels matter: values below the merged keys are never merged themselves. */
function hasValueAt(mapping: RawMapping, [first, second]: DocumentPath): boolean {
  if (typeof first !== 'string' || !Object.hasOwn(mapping, first)) return false;
  const value = mapping[first];
  if (!isMergedField(first) || !isMapping(value) || typeof second !== 'string') return true;
  return Object.hasOwn(value, second);
}

function isMergedField(key: string): key is MergedField {
  return MERGED_FIELDS.some((field) => field === key);
}
