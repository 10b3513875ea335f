import { z } from 'zod';

/** The most checks that one check may depend on. */
const MAX_PARENTS = 10;

/** The checks whose failure delays the alerts of a check: src/service/README.md, "Dependencies". */
export const dependsOnField = z
  .array(z.string().min(1).max(100))
  .max(MAX_PARENTS)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must name each check once' })
  .default([])
  .describe(
    'The ids of other checks, at most 10. While one of them fails, the alerts of this check wait. It runs nevertheless.',
  );

/** A check with the ids of those that it depends on. */
interface Dependent {
  readonly id: string;
  /** Left out if an older release wrote the check. */
  readonly dependsOn?: readonly string[];
}

/**
 * Sorts checks into levels: each check depends only on checks of earlier levels, and on checks that
 * are not given. Within a level, checks keep their order.
 *
 * @returns `inCycles`: the checks of cycles, and those that depend on them; they are in no level
 */
export function dependencyLevels<Check extends Dependent>(
  checks: readonly Check[],
): { readonly levels: readonly (readonly Check[])[]; readonly inCycles: readonly Check[] } {
  const ids = new Set(checks.map(({ id }) => id));
  const waitsFor = new Map<Check, number>();
  const childrenOf = new Map<string, Check[]>();
  for (const check of checks) {
    const parents = (check.dependsOn ?? []).filter((id) => ids.has(id));
    waitsFor.set(check, parents.length);
    for (const id of parents) append(childrenOf, id, check);
  }
  const levels: (readonly Check[])[] = [];
  let level: readonly Check[] = checks.filter((check) => waitsFor.get(check) === 0);
  while (level.length > 0) {
    levels.push(level);
    for (const check of level) waitsFor.delete(check);
    level = level.flatMap(({ id }) =>
      (childrenOf.get(id) ?? []).filter((child) => {
        const left = (waitsFor.get(child) ?? 0) - 1;
        waitsFor.set(child, left);
        return left === 0;
      }),
    );
  }
  return { levels, inCycles: [...waitsFor.keys()] };
}

/**
 * The ids of one cycle: each check depends on the next, the last on the first. Empty if there is
 * none.
 */
export function cycleIn(checks: readonly Dependent[]): readonly string[] {
  if (checks.every(({ dependsOn = [] }) => dependsOn.length === 0)) return [];
  const { inCycles } = dependencyLevels(checks);
  const byId = new Map(inCycles.map((check) => [check.id, check]));
  const path = new Set<string>();
  let id = inCycles[0]?.id;
  while (id !== undefined && !path.has(id)) {
    path.add(id);
    id = byId.get(id)?.dependsOn?.find((parent) => byId.has(parent));
  }
  return id === undefined ? [] : [...path].slice([...path].indexOf(id));
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
