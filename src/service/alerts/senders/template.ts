import Handlebars from 'handlebars';
import { messageOf } from '../../../runtime/errors.ts';
import type { Escape } from './escape.ts';
import { templateProblem } from './template-rules.ts';

type Value = string | number | null | readonly string[];
export type Variables = Readonly<Record<string, Value>>;

export type Rendered =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Of UTF-16 units. */
const MAX_RENDERED_CHARS = 256 * 1024;
const MAX_KEPT = 200;

const TOO_LONG = `what it makes is longer than ${MAX_RENDERED_CHARS} characters`;

/**
 * What one rendering may make, counted as it is made: a template of 10 KB can name a text of 10 KB,
 * or all variables, two hundred times.
 */
class Budget {
  #chars = MAX_RENDERED_CHARS;

  /** @throws where there was not so much left */
  take(text: string): string {
    this.#chars -= text.length;
    if (this.#chars < 0) throw new Error(TOO_LONG);
    return text;
  }
}

/** Of the renderings under way, by their variables. */
const budgets = new WeakMap<object, Budget>();

/** A text in a template: `{{X}}` escapes it, `{{{X}}}` does not. */
class EscapedText {
  readonly #text: string;
  readonly #escaper: Escape;
  readonly #budget: Budget;
  /** Made once for a rendering, however often it is named. */
  #escaped: string | null = null;

  constructor(text: string, escaper: Escape, budget: Budget) {
    this.#text = text;
    this.#escaper = escaper;
    this.#budget = budget;
  }

  /** What Handlebars calls for `{{X}}`. */
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

/** A list in a template: apart by commas where it stands by itself. */
class EscapedList extends Array<EscapedText> {
  #joined: string | null = null;

  toHTML(): string {
    return this.map((item) => item.toHTML()).join(', ');
  }

  override toString(): string {
    this.#joined ??= this.map(String).join(', ');
    return this.#joined;
  }

  // Or `map` would make another of these.
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

/** Parsing and compiling takes milliseconds, and an outage has many notices to one channel. */
const kept = new Map<string, Compiled>();

function compiled(template: string): Compiled {
  const known = kept.get(template);
  if (known !== undefined) return known;
  const problem = templateProblem(template);
  const made: Compiled =
    problem === null
      ? { ok: true, run: handlebars.compile(template, COMPILE_OPTIONS) }
      : { ok: false, problem };
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(template, made);
  return made;
}

const COMPILE_OPTIONS: CompileOptions = {
  knownHelpersOnly: true,
  knownHelpers: { json: true, eq: true, lookup: false, log: false, with: false },
};

/**
 * The text of a user's template. What the rules of templates (template-rules.ts) do not allow is
 * refused before anything of it is compiled: so it ends soon, and reaches nothing but the variables.
 */
export function renderTemplate(template: string, variables: Variables, escaper: Escape): Rendered {
  const program = compiled(template);
  if (!program.ok) return program;
  const budget = new Budget();
  const context: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(variables)) {
    context[name] = wrapped(value, escaper, budget);
  }
  budgets.set(context, budget);
  try {
    // Said, and not left to its own mind, which writes a warning to the console.
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
  // An empty text is as good as none to `if`.
  return typeof value === 'string' && value !== ''
    ? new EscapedText(value, escaper, budget)
    : value;
}
