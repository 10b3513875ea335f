import type { CheckType } from '../../check/model.ts';
import type { Draft } from '../draft.ts';
import { factsAt } from '../facts.ts';

/** The first fields, in the order of check files of the service. Other fields follow in the order of the draft. */
const FIRST = ['checkType', 'name', 'description', 'tags', 'activated', 'frequency'];
/** Fields that a file does not have: they are derived from the name of the file and the id. */
const NOT_IN_FILES = ['logicalId'];

/** The draft without the fields that have their default, as in a check file. */
export function shortForm(draft: Draft, type: CheckType): Draft {
  const all = shortObject(draft, '', type);
  const names = new Set([...FIRST, ...Object.keys(all)]);
  return Object.fromEntries(
    [...names]
      .filter((name) => Object.hasOwn(all, name) && !NOT_IN_FILES.includes(name))
      .map((name) => [name, all[name]]),
  );
}

function shortObject(fields: Draft, path: string, type: CheckType): Record<string, unknown> {
  const kept = Object.entries(fields).flatMap(([name, value]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const short = shortValue(value, at, type);
    const standard = defaultAt(at, fields, type);
    const isDefault = standard !== undefined && JSON.stringify(short) === JSON.stringify(standard);
    return short === undefined || isDefault ? [] : [[name, short] as const];
  });
  return Object.fromEntries(kept);
}

/** Undefined for an optional object without remaining fields. */
function shortValue(value: unknown, path: string, type: CheckType): unknown {
  if (Array.isArray(value)) {
    // Entries of other lists are short anyway.
    if (path !== 'request.assertions') return value;
    return value.map((each) => shortValue(each, `${path}[]`, type) ?? {});
  }
  if (typeof value !== 'object' || value === null) return value;
  const short = shortObject(value as Draft, path, type);
  const isNeeded = factsAt(type, path)?.isRequired === true;
  return Object.keys(short).length === 0 && !isNeeded ? undefined : short;
}

/** A maximum below the default of its degraded threshold lowers that default to itself. */
function defaultAt(path: string, fields: Draft, type: CheckType): unknown {
  const standard = factsAt(type, path)?.default;
  const max = /^degraded/.test(path) ? fields[path.replace(/^degraded/, 'max')] : null;
  return typeof max === 'number' && typeof standard === 'number'
    ? Math.min(max, standard)
    : standard;
}
