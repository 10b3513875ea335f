import type { Check } from '../../model/check/check.ts';
import { fillUrl } from '../../model/check/request/request-url.ts';
import {
  compileTemplate,
  fillTemplate,
  namesIn,
  type Template,
  templateNames,
} from '../../model/check/template.ts';
import { NOT_READABLE_NAME } from '../../model/credentials/not-readable.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { mapTexts, type TextField } from './check-texts.ts';
import { LIMITS_CHARS, valueProblem } from './value-problem.ts';

/** The failure is CREDENTIAL_NOT_READABLE, VARIABLE_UNKNOWN or REQUEST_INVALID. */
export type RenderedCheck<C> =
  | { readonly ok: true; readonly check: C }
  | { readonly ok: false; readonly failure: Failure };

/** The value of a variable; undefined if there is none. */
export type Lookup = (name: string) => string | undefined;

/** One text of a check; `template` is null if it contains no templates. */
interface CompiledText {
  readonly template: Template | null;
  readonly names: readonly string[];
  readonly field: TextField;
}

interface Compiled {
  readonly texts: readonly CompiledText[];
  /** The check's own variables. */
  readonly own: ReadonlyMap<string, string>;
  readonly names: readonly string[];
  /** The fields whose credentials the service could not decrypt. */
  readonly notReadable: readonly TextField[];
}

/** Maximum number of names in a message. */
const MAX_NAMED = 5;

/** Checks are immutable. null: the check contains no templates. */
const compiledOf = new WeakMap<Check, Compiled | null>();
/** Checks made by scripts: their templates were not compiled from their texts. */
const scripted = new WeakSet<Check>();

function compile(check: Check): Compiled | null {
  const known = compiledOf.get(check);
  if (known !== undefined) return known;
  const own = new Map(check.variables.map(({ key, value }) => [key, value]));
  return compileWith(check, compileTemplate, own);
}

/**
 * Compiles a check that scripts have made: only unchanged texts and placeholders are templates.
 *
 * @param set the variables that scripts have set: they take precedence
 */
export function compileScripted(
  check: Check,
  templateOf: (text: string, field: TextField) => Template | null,
  set: ReadonlyMap<string, string>,
): void {
  const own = new Map([...check.variables.map(({ key, value }) => [key, value] as const), ...set]);
  scripted.add(check);
  compileWith(check, templateOf, own);
}

function compileWith(
  check: Check,
  templateOf: (text: string, field: TextField) => Template | null,
  own: ReadonlyMap<string, string>,
): Compiled | null {
  const texts: CompiledText[] = [];
  mapTexts(check, (text, field) => {
    const template = templateOf(text, field);
    texts.push({ template, names: template === null ? [] : templateNames(template), field });
    return text;
  });
  const all = new Set(texts.flatMap((each) => each.names));
  // A variable of that name must not replace a credential.
  const names = [...all].filter((name) => name !== NOT_READABLE_NAME);
  const notReadable = texts.flatMap((each) =>
    each.names.includes(NOT_READABLE_NAME) ? [each.field] : [],
  );
  const compiled = all.size === 0 ? null : { texts, own, names, notReadable };
  compiledOf.set(check, compiled);
  return compiled;
}

/**
 * The check with its templates filled in (src/model/README.md, "Variables and secrets"): its own
 * variables take precedence over the others. `{{NAME}}` is URI-encoded in the url; query parameters
 * are encoded when they are sent. Failure messages contain no values.
 *
 * Returns the same object for a check without templates.
 *
 * @param unreadable names of variables that the service cannot decrypt
 */
export function renderCheck<C extends Check>(
  check: C,
  others: Lookup,
  unreadable: ReadonlySet<string> = new Set(),
): RenderedCheck<C> {
  const compiled = compile(check);
  if (compiled === null) return { ok: true, check };
  const { texts, own, notReadable } = compiled;
  if (notReadable.length > 0) return { ok: false, failure: notReadableFailure(notReadable) };
  const lookup: Lookup = (name) => own.get(name) ?? others(name);
  const unknown = findUnknown(compiled, lookup, unreadable);
  if (unknown !== null) return { ok: false, failure: unknown };

  let index = 0;
  let failure: Failure | null = null;
  const rendered = mapTexts(check, (text) => {
    const compiledText = texts[index];
    index += 1;
    if (compiledText === undefined || failure !== null) return text;
    const { template, field } = compiledText;
    if (template === null) return text;
    const filled = fill(template, field, lookup);
    const problem = valueProblem(field.kind, template, filled, lookup);
    if (problem === null) return filled ?? text;
    failure = {
      code: 'REQUEST_INVALID',
      message: `${field.label()} cannot be sent: ${problem}.`,
    };
    return text;
  });
  // mapTexts changes only texts, so the type stays the same.
  return failure === null ? { ok: true, check: rendered as C } : { ok: false, failure };
}

/** The variables in the templates of a check that it does not define itself. */
export function namesFromOthers(check: Check): readonly string[] {
  const compiled = compile(check);
  return compiled === null ? [] : compiled.names.filter((name) => !compiled.own.has(name));
}

/** The values of the variables in the templates of a check. */
export function variableValuesIn(check: Check, others: Lookup): readonly string[] {
  const compiled = compile(check);
  if (compiled === null) return [];
  return compiled.names.flatMap((name) => compiled.own.get(name) ?? others(name) ?? []);
}

/** Whether the body of a check's request contains the variable. */
export function isInBody(check: Check, name: string): boolean {
  const texts = compile(check)?.texts ?? [];
  return texts.some(({ names, field }) => field.kind === 'body' && names.includes(name));
}

/** Whether the request for an access token contains the variable. */
export function isInTokenRequest(check: Check, name: string): boolean {
  const texts = compile(check)?.texts ?? [];
  return texts.some(({ names, field }) => field.isOfToken === true && names.includes(name));
}

/** Scheme and authority. URL parsers skip any number of slashes and backslashes before a host. */
const BEFORE_PATH = /^https?:\/\/([^/?#\\]+)([/?#\\]|$)/i;

/** Whether the host name of a check's request may contain a part of the variable. */
export function isInHost(check: Check, name: string): boolean {
  if (!('url' in check.request)) return false;
  if (scripted.has(check)) return isInScriptedHost(check, name);
  const headers = 'headers' in check.request ? check.request.headers : [];
  const hosts = headers.filter(({ key }) => key.trim().toLowerCase() === 'host');
  const tokenUrl = ('auth' in check.request ? check.request.auth?.tokenUrl : null) ?? '';
  const texts = [hostIn(check.request.url), hostIn(tokenUrl), ...hosts.map(({ value }) => value)];
  return texts.some((text) => namesIn(text).includes(name));
}

/** In doubt true: a script may build its texts in any way. */
function isInScriptedHost(check: Check, name: string): boolean {
  const texts = compile(check)?.texts ?? [];
  return texts.some(({ template, names, field }) => {
    if (template === null || !names.includes(name)) return false;
    if (field.kind !== 'url') return field.isHost === true;
    const [first] = template;
    return typeof first !== 'string' || !WHOLE_HOST.test(first);
  });
}

/** The hosts of a rendered check and of its Host headers, as written and as they are looked up. */
export function hostsIn({ request }: Check): readonly string[] {
  if (!('url' in request)) return [];
  const { url } = request;
  const [, written = ''] = AUTHORITY.exec(url) ?? [];
  const headers = 'headers' in request ? request.headers : [];
  const named = headers.filter(({ key }) => key.trim().toLowerCase() === 'host');
  const lookedUp = URL.canParse(url) ? [new URL(url).hostname] : [];
  return [written, ...lookedUp, ...named.map(({ value }) => value)];
}

/** Host and port of a URL. */
const AUTHORITY = /^https?:\/\/(?:[^/?#\\]*@)?([^/?#\\]*)/i;

/** A URL up to the end of its host, without a user. */
const WHOLE_HOST = /^https?:\/\/[^/?#\\@]+[/?#]/i;

/**
 * The part of a url that may become its host, whatever its variables contain: all of it if the end
 * of the host is unknown. The first slash after a character of the host ends it.
 */
function hostIn(text: string): string {
  // URL parsers remove these characters everywhere.
  const url = text.replaceAll(/[\t\n\r]/g, '');
  const [, authority = '', end = ''] = BEFORE_PATH.exec(url) ?? [];
  const parts = compileTemplate(authority) ?? [authority];
  // A raw template may be a slash, and a URI-encoded one may be empty.
  const isWritten = parts.some((part) => typeof part === 'string' && part !== '');
  if (!isWritten && (end === '\\' || hasRaw(parts))) return url;
  const hostAt = authority.lastIndexOf('@') + 1;
  const user = compileTemplate(authority.slice(0, hostAt)) ?? [];
  return authority === '' || hasRaw(user) ? url : authority.slice(hostAt);
}

function hasRaw(template: Template): boolean {
  return template.some((part) => typeof part !== 'string' && part.isRaw);
}

function fill(template: Template, { kind }: TextField, lookup: Lookup): string | null {
  const fillWith = kind === 'url' ? fillUrl : fillTemplate;
  return fillWith(template, ({ name }) => lookup(name) ?? '', LIMITS_CHARS[kind]);
}

function notReadableFailure(fields: readonly TextField[]): Failure {
  const [first, ...rest] = fields.map(({ label }) => label());
  return {
    code: 'CREDENTIAL_NOT_READABLE',
    message: `${first} has a credential, or a secret variable of the check, that the service cannot decrypt, so nothing was sent${othersText(rest)}: give it to the check again, or put the key that encrypted it after the other keys in ENCRYPTION_KEY of the service and restart it.`,
  };
}

function findUnknown(
  { texts, names }: Compiled,
  lookup: Lookup,
  unreadable: ReadonlySet<string>,
): Failure | null {
  const unknown = names.filter((name) => lookup(name) === undefined);
  const sealed = unknown.filter((name) => unreadable.has(name));
  const [first, ...rest] = sealed.length > 0 ? sealed : unknown;
  if (first === undefined) return null;
  const where = texts.find((each) => each.names.includes(first))?.field.label() ?? 'The request';
  if (sealed.length > 0) {
    return {
      code: 'CREDENTIAL_NOT_READABLE',
      message: `${where} names the variable ${first} of the account, which the service cannot decrypt, so nothing was sent${othersText(rest)}: give the variable its value again, or put the key that encrypted it after the other keys in ENCRYPTION_KEY of the service and restart it.`,
    };
  }
  return {
    code: 'VARIABLE_UNKNOWN',
    message: `${where} names the variable ${first}, which has no value here${othersText(rest)}: define it among the variables of the check, of the check file or of the account, or have the agent take it by VARIABLES_FROM_ENV or VARIABLES_DIR.`,
  };
}

function othersText(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMED ? ' and others' : '';
  return ` (also ${names.slice(0, MAX_NAMED).join(', ')}${more})`;
}
