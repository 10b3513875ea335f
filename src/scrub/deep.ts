/** Whatever is deeper is masked whole: it would take more stack than there may be. */
const MAX_DEPTH = 500;

type Known = Map<object, unknown>;

/**
 * The value with every text inside replaced, names of fields too; the same object where none was.
 *
 * @param text what replaces a text; gives back the same where there is nothing to replace
 * @param exempt names of fields whose values stay as they are
 * @param tooDeep what stands for what is too deep, or stands in itself
 */
export function deepText<T>(
  value: T,
  text: (text: string) => string,
  exempt: ReadonlySet<string>,
  tooDeep: string,
): T {
  // An object that is referenced several times is visited once.
  const known: Known = new Map();

  const object = (given: object, depth: number): unknown => {
    if (depth > MAX_DEPTH) return tooDeep;
    if (known.has(given)) return known.get(given);
    known.set(given, tooDeep);
    const scrubbed = Array.isArray(given)
      ? array(given, depth)
      : isOfFields(given)
        ? record(given, depth)
        : written(given, depth);
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
    return isSame ? given : Object.fromEntries(withOwnNames(fields));
  };

  /** What says itself how it is written, like an address. */
  const written = (given: object, depth: number): unknown => {
    if (!('toJSON' in given) || typeof given.toJSON !== 'function') return given;
    const json: unknown = given.toJSON();
    const scrubbed = any(json, depth + 1);
    return scrubbed === json ? given : scrubbed;
  };

  return any(value, 0) as T;
}

/** Bytes, dates, maps and the like are not made of fields. */
function isOfFields(value: object): boolean {
  if ('toJSON' in value && typeof value.toJSON === 'function') return false;
  return !ArrayBuffer.isView(value);
}

/** An error's message is none of its enumerable fields, but is written. */
function fieldsOf(value: object): (readonly [string, unknown])[] {
  const own = Object.entries(value);
  if (!(value instanceof Error)) return own;
  const { name, message, stack, cause } = value;
  const hidden = Object.entries({ name, message, stack, cause });
  return [...hidden.filter(([key]) => !Object.keys(value).includes(key)), ...own];
}

/** Two names that became the same stay two. */
function withOwnNames(
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
