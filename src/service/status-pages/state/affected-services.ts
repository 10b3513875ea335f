/** Affected services that are named; the others are counted. */
const MAX_NAMED = 10;

/** The services of a page that something affects, as readers see them. */
export interface AffectedServices {
  readonly names: readonly string[];
  /** The text after the names, such as `and 3 others`, or instead of all names; may be empty. */
  readonly rest: string;
}

/**
 * @param ids the affected services, which may belong to other pages
 * @param names the names of the services of the page, by id
 */
export function affectedServices(
  ids: readonly string[],
  names: ReadonlyMap<string, string>,
): AffectedServices {
  const known = ids.flatMap((id) => names.get(id) ?? []);
  if (known.length <= MAX_NAMED) return { names: known, rest: '' };
  if (known.length === names.size) return { names: [], rest: `all ${known.length} services` };
  const others = known.length - MAX_NAMED;
  const rest = `and ${others} ${others === 1 ? 'other' : 'others'}`;
  return { names: known.slice(0, MAX_NAMED), rest };
}
