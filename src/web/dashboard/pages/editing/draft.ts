import type { AnyCheck, Check, CheckType } from '../check/model.ts';
import { fieldsOf } from './facts.ts';

/** The body of a check while it is edited. None of it has been validated. */
export type Draft = Readonly<Record<string, unknown>>;

/** Fields that responses add or the service sets. */
const RESPONSE_ONLY: readonly string[] = [
  'id',
  'created_at',
  'createdAt',
  'updated_at',
  'updatedAt',
  'alertChannels',
  'warnings',
];

/** The parts of a path such as `request.headers[2].key`. */
function partsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

/** The value at a path; undefined if there is none. */
export function valueAt(draft: unknown, path: string): unknown {
  let value = draft;
  for (const part of partsOf(path)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined;
  }
  return value;
}

/** The draft with another value at a path, undefined for none. Creates missing objects on the path. */
export function withValue(draft: Draft, path: string, value: unknown): Draft {
  return replaced(draft, partsOf(path), value) as Draft;
}

function replaced(
  container: unknown,
  parts: readonly (string | number)[],
  value: unknown,
): unknown {
  const [part, ...rest] = parts;
  if (part === undefined) return value;
  if (typeof part === 'number') {
    const list: unknown[] = Array.isArray(container) ? [...container] : [];
    list[part] = replaced(list[part], rest, value);
    return list;
  }
  const isObject = typeof container === 'object' && container !== null && !Array.isArray(container);
  const fields: Record<string, unknown> = isObject ? { ...container } : {};
  const inner = replaced(Object.hasOwn(fields, part) ? fields[part] : undefined, rest, value);
  if (inner === undefined) delete fields[part];
  else fields[part] = inner;
  return fields;
}

/** The list at a path; empty if there is none. */
export function listAt(draft: Draft, path: string): readonly unknown[] {
  const value = valueAt(draft, path);
  return Array.isArray(value) ? value : [];
}

export function newDraft(type: CheckType): Draft {
  return { checkType: type, name: '', request: {} };
}

/** The fields of a stored check that can be sent. */
export function draftOf(check: AnyCheck): Draft {
  return Object.fromEntries(
    Object.entries(check).filter(([field]) => !RESPONSE_ONLY.includes(field)),
  );
}

const MASK = '********';
const MAX_NAME_CHARS = 255;

/** A paused copy. Hidden values are empty and must be given again. */
export function duplicateOf(check: Check): Draft {
  const { logicalId: _, ...fields } = draftOf(check);
  const copy = {
    ...fields,
    name: `Copy of ${check.name}`.slice(0, MAX_NAME_CHARS),
    activated: false,
  };
  return withoutMasks(copy) as Draft;
}

/** Whether the API hides a value of the check. */
export function hidesValues(check: Check): boolean {
  return JSON.stringify(withoutMasks(draftOf(check))) !== JSON.stringify(draftOf(check));
}

/** A URL with a hidden password keeps its mask, which the API refuses with advice. */
function withoutMasks(value: unknown): unknown {
  if (value === MASK) return '';
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, inner]) => [key, withoutMasks(inner)] as const);
  const copy = Object.fromEntries(fields);
  // A variable: responses have null for its value.
  return copy.secret === true && copy.value === null ? { ...copy, value: '' } : copy;
}

/**
 * The draft as a check of another type: fields of both types stay, except for thresholds and assertions,
 * whose meaning differs.
 */
export function withType(draft: Draft, type: CheckType): Draft {
  const known = fieldsOf(type);
  const request = valueAt(draft, 'request');
  const kept = Object.entries(
    typeof request === 'object' && request !== null ? request : {},
  ).filter(([name]) => name !== 'assertions' && known[`request.${name}`] !== undefined);
  const fields = Object.entries(draft).filter(
    ([name]) => known[name] !== undefined && !/ResponseTime$|Threshold$/.test(name),
  );
  return { ...Object.fromEntries(fields), checkType: type, request: Object.fromEntries(kept) };
}

/**
 * The fields of an update. Fields that the draft omits get their default: the API would keep the stored value.
 *
 * @param stored the check as it was read
 */
export function updateOf(draft: Draft, stored: Draft, type: CheckType): Draft {
  const missing = Object.entries(fieldsOf(type)).filter(
    ([path, { default: standard }]) =>
      /^\w+$/.test(path) && standard !== undefined && draft[path] === undefined,
  );
  return {
    ...Object.fromEntries(missing.map(([path, facts]) => [path, facts.default])),
    ...(draft.triggerIncident === undefined ? { triggerIncident: null } : {}),
    ...(draft.alertSettings === undefined ? { alertSettings: {} } : {}),
    ...(draft.retryStrategy === undefined && stored.retryStrategy !== undefined
      ? { retryStrategy: draft.doubleCheck === false ? null : ONE_RETRY }
      : {}),
    ...draft,
  };
}

/** Has the same effect as no strategy with `doubleCheck`: an update cannot remove a strategy. */
const ONE_RETRY = { type: 'SINGLE_RETRY', baseBackoffSeconds: 0, sameRegion: false };
