import Handlebars from 'handlebars';
import { messageOf } from '../../runtime/errors.ts';
import type { Escape } from './escape.ts';
import { parseTemplate } from './template-rules.ts';

type Value = string | number | null | readonly string[];
export type TemplateVariables = Readonly<Record<string, Value>>;

export type RenderedTemplate =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** UTF-16 code units. */
const MAX_RENDERED_CHARS = 256 * 1024;
const MAX_CACHED = 200;

const TOO_LONG = `its output is longer than ${MAX_RENDERED_CHARS} characters`;

/**
 * Bounds the output of one rendering while it grows: a template of 10 KB can contain a text of 10 KB,
 * or all variables, two hundred times.
 */
class Budget {
  #chars = MAX_RENDERED_CHARS;

  /** @throws if the text exceeds the remaining budget */
  take(text: string): string {
    this.#chars -= text.length;
    if (this.#chars < 0) throw new Error(TOO_LONG);
    return text;
  }
}

/** The budgets of the running renderings, by their variables. */
const budgets = new WeakMap<object, Budget>();

/** A text in a template: `{{X}}` escapes it, `{{{X}}}` does not. */
class EscapedText {
  readonly #text: string;
  readonly #escaper: Escape;
  readonly #budget: Budget;
  /** The escaped text, cached because the template may contain it many times. */
  #escaped: string | null = null;

  constructor(text: string, escaper: Escape, budget: Budget) {
    this.#text = text;
    this.#escaper = escaper;
    this.#budget = budget;
  }

  /** Handlebars calls it for `{{X}}`. */
  toHTML(): string {
    this.#escaped ??= this.#escaper(this.#text);
    return this.#budget.take(this.#escaped);
  }

  toString(): string {
    return this.#text;
  }

  toJSON(): string {
    return this.#text;
  }
}

/** A list in a template: `{{X}}` joins it with commas. */
class EscapedList extends Array<EscapedText> {
  #joined: string | null = null;

  toHTML(): string {
    return this.map((item) => item.toHTML()).join(', ');
  }

  override toString(): string {
    this.#joined ??= this.map(String).join(', ');
    return this.#joined;
  }

  // Otherwise `map` would create another EscapedList.
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

const handlebars = Handlebars.create();
for (const name of Object.keys(handlebars.helpers)) {
  if (!['if', 'unless', 'helperMissing', 'blockHelperMissing'].includes(name)) {
    handlebars.unregisterHelper(name);
  }
}
handlebars.registerHelper({
  json(value: unknown, options: Handlebars.HelperOptions) {
    const text = JSON.stringify(value ?? null);
    budgets.get(options.data.root)?.take(text);
    return new Handlebars.SafeString(text);
  },
  eq: (one: unknown, other: unknown) => String(one ?? '') === String(other ?? ''),
  each(this: unknown, items: unknown, options: Handlebars.HelperOptions) {
    if (!Array.isArray(items) || items.length === 0) return options.inverse(this);
    let text = '';
    for (const [index, item] of items.entries()) {
      const data = Handlebars.createFrame(options.data ?? {});
      Object.assign(data, { index, first: index === 0, last: index === items.length - 1 });
      text += options.fn(item, { data });
      if (text.length > MAX_RENDERED_CHARS) throw new Error(TOO_LONG);
    }
    return text;
  },
});

type Compiled =
  | { readonly ok: true; readonly run: HandlebarsTemplateDelegate }
  | { readonly ok: false; readonly problem: string };

/** Parsing and compiling takes milliseconds, and an outage sends many notices to one channel. */
const cache = new Map<string, Compiled>();

function compiled(template: string): Compiled {
  const known = cache.get(template);
  if (known !== undefined) {
    // Moves the template to the end of the map: templates of deliveries then outlive those of previews.
    cache.delete(template);
    cache.set(template, known);
    return known;
  }
  const parsed = parseTemplate(template);
  const made: Compiled = parsed.ok
    ? { ok: true, run: handlebars.compile(parsed.program, COMPILE_OPTIONS) }
    : parsed;
  const [oldest] = cache.keys();
  if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest);
  cache.set(template, made);
  return made;
}

const COMPILE_OPTIONS: CompileOptions = {
  knownHelpersOnly: true,
  knownHelpers: { json: true, eq: true, lookup: false, log: false, with: false },
};

/**
 * Renders a user's template. Refuses, before compilation, what template-rules.ts does not allow. Therefore
 * rendering ends soon and can read only the variables.
 */
export function renderTemplate(
  template: string,
  variables: TemplateVariables,
  escaper: Escape,
): RenderedTemplate {
  const program = compiled(template);
  if (!program.ok) return program;
  const budget = new Budget();
  const context: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(variables)) {
    context[name] = wrapped(value, escaper, budget);
  }
  budgets.set(context, budget);
  try {
    // Set explicitly, since Handlebars otherwise writes a warning to the console.
    const text = program.run(context, {
      allowProtoPropertiesByDefault: false,
      allowProtoMethodsByDefault: false,
    });
    return text.length > MAX_RENDERED_CHARS ? { ok: false, problem: TOO_LONG } : { ok: true, text };
  } catch (thrown) {
    return { ok: false, problem: messageOf(thrown) };
  }
}

function wrapped(value: Value, escaper: Escape, budget: Budget): unknown {
  if (Array.isArray(value)) {
    return EscapedList.from(value, (item: string) => new EscapedText(item, escaper, budget));
  }
  // `if` must treat an empty text as false.
  return typeof value === 'string' && value !== ''
    ? new EscapedText(value, escaper, budget)
    : value;
}
