import type { Check } from '../../model/check/check.ts';
import {
  compileTemplate,
  fillTemplate,
  fillUrl,
  namesIn,
  namesOf,
  type Template,
} from '../../model/check/template.ts';
import { NOT_READABLE_NAME } from '../../model/credentials/not-readable.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { mapTexts, type TextField } from './check-texts.ts';
import { LIMITS_CHARS, problemOf } from './sendable.ts';

/** CREDENTIAL_NOT_READABLE, VARIABLE_UNKNOWN or REQUEST_INVALID where it cannot be sent. */
export type Rendered<C> =
  | { readonly ok: true; readonly check: C }
  | { readonly ok: false; readonly failure: Failure };

/** The value of a variable that the check does not have itself; undefined where there is none. */
export type Lookup = (name: string) => string | undefined;

/** One text of a check; `template` is null where it contains none. */
interface Slot {
  readonly template: Template | null;
  readonly names: readonly string[];
  readonly field: TextField;
}

interface Compiled {
  readonly slots: readonly Slot[];
  /** The check's own variables. */
  readonly own: ReadonlyMap<string, string>;
  readonly names: readonly string[];
  /** Where the service put no credential, as it cannot decrypt it. */
  readonly notReadable: readonly TextField[];
}

/** More are not named in a message. */
const MAX_NAMED = 5;

/** Checks are never changed, only replaced. null: it contains no templates. */
const compiledOf = new WeakMap<Check, Compiled | null>();

function compile(check: Check): Compiled | null {
  const known = compiledOf.get(check);
  if (known !== undefined) return known;
  const slots: Slot[] = [];
  mapTexts(check, (text, field) => {
    const template = compileTemplate(text);
    slots.push({ template, names: template === null ? [] : namesOf(template), field });
    return text;
  });
  const all = new Set(slots.flatMap((slot) => slot.names));
  // No variable of that name stands in for a credential.
  const names = [...all].filter((name) => name !== NOT_READABLE_NAME);
  const notReadable = slots.flatMap((slot) =>
    slot.names.includes(NOT_READABLE_NAME) ? [slot.field] : [],
  );
  const own = new Map(check.variables.map(({ key, value }) => [key, value]));
  const compiled = all.size === 0 ? null : { slots, own, names, notReadable };
  compiledOf.set(check, compiled);
  return compiled;
}

/**
 * The check with its templates filled in (src/model/README.md, "Variables and secrets"): by its own
 * variables first, then by the others. In the url `{{NAME}}` is URI-encoded; query parameters are
 * encoded when they are sent, and all else is taken as it is. No message of a failure contains a
 * value.
 *
 * A check without templates comes back as the same object.
 */
export function renderCheck<C extends Check>(check: C, others: Lookup): Rendered<C> {
  const compiled = compile(check);
  if (compiled === null) return { ok: true, check };
  const { slots, own, notReadable } = compiled;
  if (notReadable.length > 0) return { ok: false, failure: notReadableFailure(notReadable) };
  const lookup: Lookup = (name) => own.get(name) ?? others(name);
  const unknown = findUnknown(compiled, lookup);
  if (unknown !== null) return { ok: false, failure: unknown };

  let index = 0;
  let failure: Failure | null = null;
  const rendered = mapTexts(check, (text) => {
    const slot = slots[index];
    index += 1;
    const template = slot?.template ?? null;
    if (slot === undefined || template === null || failure !== null) return text;
    const filled = fillSlot(template, slot.field, lookup);
    const problem = problemOf(slot.field.kind, template, filled, lookup);
    if (problem === null) return filled ?? text;
    failure = {
      code: 'REQUEST_INVALID',
      message: `${slot.field.label()} cannot be sent: ${problem}.`,
    };
    return text;
  });
  // The same check, but for the texts in it.
  return failure === null ? { ok: true, check: rendered as C } : { ok: false, failure };
}

/** The variables that the templates of a check name and that are not its own. */
export function namesFromOthers(check: Check): readonly string[] {
  const compiled = compile(check);
  return compiled === null ? [] : compiled.names.filter((name) => !compiled.own.has(name));
}

/** What the templates of a check stand for, as far as there are values. */
export function valuesIn(check: Check, others: Lookup): readonly string[] {
  const compiled = compile(check);
  if (compiled === null) return [];
  return compiled.names.flatMap((name) => compiled.own.get(name) ?? others(name) ?? []);
}

/** Whether the body of a check's request names the variable. */
export function isInBody(check: Check, name: string): boolean {
  const slots = compile(check)?.slots ?? [];
  return slots.some(({ names, field }) => field.kind === 'body' && names.includes(name));
}

/** Scheme and authority. URL parsers skip slashes of both kinds before a host. */
const BEFORE_PATH = /^https?:\/\/([^/?#\\]+)([/?#\\]|$)/i;

/** Whether the name of a host that a check's request is for may have a part of the variable. */
export function isInHost(check: Check, name: string): boolean {
  if (!('url' in check.request)) return false;
  const headers = 'headers' in check.request ? check.request.headers : [];
  const hosts = headers.filter(({ key }) => key.trim().toLowerCase() === 'host');
  const texts = [hostIn(check.request.url), ...hosts.map(({ value }) => value)];
  return texts.some((text) => namesIn(text).includes(name));
}

/**
 * What of a url may become a part of its host, whatever its variables are: all of it where it does
 * not say where the host ends. The first slash behind a character of the host ends it.
 */
function hostIn(text: string): string {
  // URL parsers leave these out, wherever they stand.
  const url = text.replaceAll(/[\t\n\r]/g, '');
  const [, authority = '', end = ''] = BEFORE_PATH.exec(url) ?? [];
  const parts = compileTemplate(authority) ?? [authority];
  // One of these may be a slash; and the others, which are URI-encoded, nothing at all.
  const isWritten = parts.some((part) => typeof part === 'string' && part !== '');
  if (!isWritten && (end === '\\' || hasRaw(parts))) return url;
  const hostAt = authority.lastIndexOf('@') + 1;
  const user = compileTemplate(authority.slice(0, hostAt)) ?? [];
  return authority === '' || hasRaw(user) ? url : authority.slice(hostAt);
}

function hasRaw(template: Template): boolean {
  return template.some((part) => typeof part !== 'string' && part.isRaw);
}

function fillSlot(template: Template, { kind }: TextField, lookup: Lookup): string | null {
  const fill = kind === 'url' ? fillUrl : fillTemplate;
  return fill(template, ({ name }) => lookup(name) ?? '', LIMITS_CHARS[kind]);
}

function notReadableFailure(fields: readonly TextField[]): Failure {
  const [first, ...rest] = fields.map(({ label }) => label());
  const more = rest.length > MAX_NAMED ? ' and others' : '';
  const others =
    rest.length === 0 ? '' : ` (so with ${rest.slice(0, MAX_NAMED).join(', ')}${more})`;
  return {
    code: 'CREDENTIAL_NOT_READABLE',
    message: `${first} has a credential, or a secret variable of the check, that the service cannot decrypt, so nothing was sent${others}: give it to the check again, or put the key that encrypted it behind the others in ENCRYPTION_KEY of the service and restart it.`,
  };
}

function findUnknown({ slots, names }: Compiled, lookup: Lookup): Failure | null {
  const unknown = names.filter((name) => lookup(name) === undefined);
  const [first, ...rest] = unknown;
  if (first === undefined) return null;
  const where = slots.find((slot) => slot.names.includes(first))?.field.label() ?? 'The request';
  const more = rest.length > MAX_NAMED ? ' and others' : '';
  const others =
    rest.length === 0 ? '' : ` (so with ${rest.slice(0, MAX_NAMED).join(', ')}${more})`;
  return {
    code: 'VARIABLE_UNKNOWN',
    message: `${where} names the variable ${first}, which has no value here${others}: define it among the variables of the check, of the check file or of the account, or have the agent take it by VARIABLES_FROM_ENV or VARIABLES_DIR.`,
  };
}
