/** Deeper values are replaced completely: they would take too much stack. */
const MAX_DEPTH = 500;

type Known = Map<object, unknown>;

/**
 * The value with every text in it mapped, including field names; the same object if no text
 * changes.
 *
 * @param text maps a text
 * @param exempt names of fields whose values stay unchanged
 * @param tooDeep replaces values that are too deep or contain themselves
 */
export function mapDeepTexts<T>(
  value: T,
  text: (text: string) => string,
  exempt: ReadonlySet<string>,
  tooDeep: string,
): T {
  // An object with several references is visited once.
  const known: Known = new Map();

  const object = (given: object, depth: number): unknown => {
    if (depth > MAX_DEPTH) return tooDeep;
    if (known.has(given)) return known.get(given);
    known.set(given, tooDeep);
    const scrubbed = Array.isArray(given)
      ? array(given, depth)
      : hasPlainFields(given)
        ? record(given, depth)
        : serialized(given, depth);
    known.set(given, scrubbed);
    return scrubbed;
  };

  const any = (given: unknown, depth: number): unknown => {
    if (typeof given === 'string') return text(given);
    return typeof given === 'object' && given !== null ? object(given, depth) : given;
  };

  const array = (given: readonly unknown[], depth: number): unknown => {
    let copy: unknown[] | null = null;
    for (const [index, one] of given.entries()) {
      const scrubbed = any(one, depth + 1);
      if (scrubbed === one) continue;
      copy ??= [...given];
      copy[index] = scrubbed;
    }
    return copy ?? given;
  };

  const record = (given: object, depth: number): unknown => {
    let isSame = true;
    const fields = fieldsOf(given).map(([name, value]) => {
      const newName = text(name);
      const newValue = exempt.has(name) ? value : any(value, depth + 1);
      if (newName !== name || newValue !== value) isSame = false;
      return [newName, newValue] as const;
    });
    return isSame ? given : Object.fromEntries(withUniqueNames(fields));
  };

  /** An object with its own JSON form, like a URL. */
  const serialized = (given: object, depth: number): unknown => {
    if (!('toJSON' in given) || typeof given.toJSON !== 'function') return given;
    const json: unknown = given.toJSON();
    const scrubbed = any(json, depth + 1);
    return scrubbed === json ? given : scrubbed;
  };

  return any(value, 0) as T;
}

/** False for byte arrays, and for objects with their own JSON form, such as dates. */
function hasPlainFields(value: object): boolean {
  if ('toJSON' in value && typeof value.toJSON === 'function') return false;
  return !ArrayBuffer.isView(value);
}

/** Includes the fields of an error that are not enumerable. */
function fieldsOf(value: object): (readonly [string, unknown])[] {
  const own = Object.entries(value);
  if (!(value instanceof Error)) return own;
  const { name, message, stack, cause } = value;
  const hidden = Object.entries({ name, message, stack, cause });
  return [...hidden.filter(([key]) => !Object.keys(value).includes(key)), ...own];
}

/** Numbers names that became equal. */
function withUniqueNames(
  fields: readonly (readonly [string, unknown])[],
): readonly (readonly [string, unknown])[] {
  const taken = new Set<string>();
  return fields.map(([name, value]) => {
    let own = name;
    for (let number = 2; taken.has(own); number += 1) own = `${name} ${number}`;
    taken.add(own);
    return [own, value] as const;
  });
}
