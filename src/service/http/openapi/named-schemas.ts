export type Json = { readonly [key: string]: unknown };
type Direction = 'input' | 'output';

/** Nested schemas with fewer fields and without a title are inlined. */
const MIN_FIELDS = 3;
/** Keywords that describe the use of a schema, not the schema itself. */
const OF_USE = new Set(['title', 'description', 'default', 'deprecated', 'readOnly']);
/** Formats that make the pattern redundant. */
const FORMATS_WITH_PATTERN = new Set(['date-time', 'date', 'uuid']);

/** The preference among names that operations suggest for a schema; lower is better. */
const RANKS = { titled: 0, get: 1, create: 2, list: 3, update: 4, put: 5 } as const;
const LOWEST_RANK = 6;

interface Form {
  readonly direction: Direction;
  count: number;
  name: string | null;
  rank: number;
}

/**
 * Moves schemas to `components.schemas`, so that generated code has one type for each: schemas with a title,
 * schemas of bodies and responses, and schemas that occur more than once. Schemas of requests are separate
 * from those of responses, and their names end with Input or Changes.
 *
 * The name of a schema is its title (`meta({ title })`), or derived from the operation that uses it, or
 * derived from the field of its first occurrence.
 */
export class NamedSchemas {
  readonly #forms = new Map<string, Form>();
  readonly #texts = new WeakMap<Json, string>();
  readonly #components: { [name: string]: unknown };
  readonly #taken = new Set<string>();
  #isReserved: boolean = false;

  constructor(taken: Json) {
    this.#components = { ...taken };
  }

  /** Counts the schemas in a body or response, and finds names for them. Call it for all operations before `lift`. */
  collect(operationId: string, direction: Direction, schema: Json): void {
    const [, verb = '', noun = ''] =
      /^(get|list|create|update|put)([A-Z].*)$/.exec(operationId) ?? [];
    const rank = verb in RANKS ? RANKS[verb as keyof typeof RANKS] : LOWEST_RANK;
    const [top, isList] = topOf(schema);
    const thing = verb === 'list' || isList ? singular(noun) : noun;
    this.#visit(schema, direction);
    if (!isForm(top)) return;
    const base = noun === '' ? pascal(operationId) : thing;
    const ending = noun === '' ? 'Response' : '';
    const change = verb === 'update' || verb === 'put' ? 'Changes' : 'Input';
    this.#suggest(top, direction, `${base}${direction === 'input' ? change : ending}`, rank);
  }

  /** Returns the body or response with references to the components. */
  lift(direction: Direction, schema: Json): unknown {
    // Names of bodies and responses take precedence over names of nested schemas.
    if (!this.#isReserved) this.#reserve();
    return this.#lift(schema, direction, '', '');
  }

  get components(): Json {
    return this.#components;
  }

  #visit(value: unknown, direction: Direction): void {
    if (Array.isArray(value)) for (const each of value) this.#visit(each, direction);
    if (!isObject(value)) return;
    if (isForm(value)) {
      const form = this.#formOf(value, direction);
      form.count += 1;
      if (typeof value.title === 'string') {
        const isNamed = direction === 'output' || /(Input|Changes)$/.test(value.title);
        this.#suggest(value, direction, isNamed ? value.title : `${value.title}Input`, 0);
      }
    }
    for (const child of Object.values(value)) this.#visit(child, direction);
  }

  #suggest(value: Json, direction: Direction, name: string, rank: number): void {
    const form = this.#formOf(value, direction);
    if (form.name !== null && form.rank <= rank) return;
    form.name = name;
    form.rank = rank;
  }

  #formOf(value: Json, direction: Direction): Form {
    const key = `${direction} ${this.#textOf(value)}`;
    const known = this.#forms.get(key);
    if (known !== undefined) return known;
    const form: Form = { direction, count: 0, name: null, rank: LOWEST_RANK + 1 };
    this.#forms.set(key, form);
    return form;
  }

  #textOf(value: Json): string {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(
      Object.fromEntries(Object.entries(value).filter(([key]) => !OF_USE.has(key))),
    );
    this.#texts.set(value, text);
    return text;
  }

  #reserve(): void {
    this.#isReserved = true;
    const ranked = [...this.#forms.values()].sort((one, other) => one.rank - other.rank);
    for (const form of ranked) {
      if (form.name !== null) form.name = this.#freeName(form.name);
    }
  }

  /**
   * @param parent the name of the component around it
   * @param field the field that has the schema
   */
  #lift(value: unknown, direction: Direction, parent: string, field: string): unknown {
    if (Array.isArray(value))
      return value.map((each) => this.#lift(each, direction, parent, field));
    if (!isObject(value)) return value;
    if (!isForm(value)) return this.#inside(value, direction, parent, field);
    const form = this.#formOf(value, direction);
    const isShared = form.count > 1 && Object.keys(asObject(value.properties)).length >= MIN_FIELDS;
    const variant = variantOf(value);
    if (form.name === null && (isShared || (variant !== null && field === ''))) {
      const wanted = field === '' ? `${variant ?? ''}${parent}` : nested(parent, field);
      form.name = this.#freeName(wanted);
    }
    if (form.name === null) return this.#inside(value, direction, parent, field);
    const { name } = form;
    if (this.#components[name] === undefined) {
      this.#components[name] = null;
      const own = Object.entries(value).filter(([key]) => !OF_USE.has(key));
      this.#components[name] = this.#inside(Object.fromEntries(own), direction, name, '');
    }
    const { title: _, ...use } = Object.fromEntries(
      Object.entries(value).filter(([key]) => OF_USE.has(key)),
    );
    return { $ref: `#/components/schemas/${name}`, ...use };
  }

  #inside(value: Json, direction: Direction, parent: string, field: string): Json {
    const { pattern, ...rest } = value;
    const isSaid = FORMATS_WITH_PATTERN.has(String(value.format));
    const kept = pattern === undefined || isSaid ? rest : value;
    return Object.fromEntries(
      Object.entries(kept).map(([key, child]) => {
        const inner = key === 'items' ? singular(field) : field;
        if (key !== 'properties') return [key, this.#lift(child, direction, parent, inner)];
        const fields = Object.entries(asObject(child)).map(([name, schema]) => {
          const lifted = this.#lift(schema, direction, parent, name);
          return [name, direction === 'input' ? optional(asObject(lifted)) : lifted];
        });
        return [key, Object.fromEntries(fields)];
      }),
    );
  }

  #freeName(wanted: string): string {
    let name = wanted;
    for (let number = 2; name in this.#components || this.#taken.has(name); number += 1) {
      name = `${wanted}${number}`;
    }
    this.#taken.add(name);
    return name;
  }
}

/**
 * Wraps the schema of a field with a default, which a body may omit, in `allOf`: generators for TypeScript make
 * a field required if its own schema has a default.
 */
function optional(field: Json): Json {
  if (field.default === undefined) return field;
  const { description, deprecated, ...schema } = field;
  return {
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    allOf: [schema],
  };
}

/** Removes the list and the null around a schema. */
function topOf(schema: Json): readonly [top: Json, isList: boolean] {
  if (schema.type === 'array') return [asObject(schema.items), true];
  const [only, ...others] = [schema.anyOf ?? []]
    .flat()
    .filter((each) => asObject(each).type !== 'null');
  const isNullable = only !== undefined && others.length === 0;
  return [isNullable ? asObject(only) : schema, false];
}

function isForm(value: Json): boolean {
  if (isObject(value.properties)) return Object.keys(value.properties).length > 0;
  const variants = value.oneOf ?? value.anyOf;
  return Array.isArray(variants) && variants.filter((each) => isForm(asObject(each))).length > 1;
}

/** `Url` for the variant of a union whose `checkType` or `type` is URL. */
function variantOf({ properties }: Json): string | null {
  const { checkType, type } = asObject(properties);
  const kind = asObject(checkType ?? type);
  const [only = kind.const, ...others] = [kind.enum ?? []].flat();
  return typeof only === 'string' && others.length === 0 ? pascal(only.toLowerCase()) : null;
}

/** `AlertSettingsInputReminders` reads worse than `AlertSettingsRemindersInput`. */
function nested(parent: string, field: string): string {
  const [, base = parent, ending = ''] = /^(.+?)(Input|Changes)$/.exec(parent) ?? [];
  return `${base}${pascal(field)}${ending}`;
}

function singular(plural: string): string {
  if (/series$/i.test(plural)) return plural;
  return plural
    .replace(/ies$/, 'y')
    .replace(/(sis|s)es$/, '$1')
    .replace(/([^su])s$/, '$1');
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
