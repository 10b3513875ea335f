import { namesIn } from '../../../model/check/template.ts';
import { isSensitiveHeader } from '../../../model/credentials/sensitive-headers.ts';
import { mapUrlSecret } from '../../../model/credentials/url-secret.ts';

const MAX_NAME_CHARS = 100;
/** Names that are sensitive in addition to the secret names of headers. */
const SENSITIVE_NAMES = /^(?:key|pwd|pass|sig|signature|apikey|access[-_]?key|secret|token)$/i;
const SENSITIVE_TEXT =
  /(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)["']?\s*[:=]|\b(?:AUTH|PASS|LOGIN)\s+\S/i;
const SCHEME_AND_CREDENTIALS = /^(?:Basic|Bearer|Digest|Token|ApiKey)\s+\S/i;

/** Environment variables in texts of Gatus. */
const ENVIRONMENT_NAME = /\$\{?([A-Za-z_]\w*)/g;

/** A variable that the user has to set before the checks can run. */
export interface WantedVariable {
  readonly name: string;
  /** Describes the value without containing it. */
  readonly meaning: string;
}

/**
 * Replaces secrets by `{{NAME}}`. The same secret in two places gets one variable. The values never leave this
 * object.
 */
export class ImportVariables {
  readonly #names = new Map<string, string>();
  readonly #wanted = new Map<string, string>();
  /** Names that are not used for secrets. */
  readonly #reserved = new Set<string>();

  get list(): readonly WantedVariable[] {
    return [...this.#wanted].map(([name, meaning]) => ({ name, meaning }));
  }

  has(name: string): boolean {
    return this.#wanted.has(name);
  }

  /**
   * Reserves the names of variables in the texts of a file. Call it for every file before the first secret: if a
   * secret got such a name, targets whose texts use the name would be sent another target's secret.
   */
  reserveNamesIn(value: unknown): void {
    for (const text of textsIn(value, new Set())) {
      for (const name of namesIn(text)) this.#reserved.add(name);
      for (const [, name = ''] of text.matchAll(ENVIRONMENT_NAME)) this.#reserved.add(name);
    }
  }

  /**
   * @param value null if it is not in the file itself
   * @param name the suggested name of the variable; any text
   * @param meaning the description in the list of variables: "the password of …"
   */
  secret(value: string | null, name: string, meaning: string): string {
    const key = value === null ? `of ${meaning}` : `= ${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return `{{${known}}}`;
    const base = variableName(name);
    let free = base;
    const isTaken = (given: string): boolean =>
      this.#wanted.has(given) || this.#reserved.has(given);
    for (let n = 2; isTaken(free); n += 1) free = `${base}_${n}`;
    this.#names.set(key, free);
    this.#wanted.set(free, meaning);
    return `{{${free}}}`;
  }

  /** A variable that the other program took from its environment. */
  fromEnvironment(name: string): string {
    if (!this.#wanted.has(name)) this.#wanted.set(name, 'the environment variable of that name');
    return `{{${name}}}`;
  }

  /** Returns the value of a header, or `{{NAME}}` if it is secret. */
  header(key: string, value: string, name: string): string {
    if (!isSensitiveHeader(key) && !SCHEME_AND_CREDENTIALS.test(value)) return value;
    if (isOnlyTemplates(value)) return value;
    const [scheme = ''] = /^(?:Basic|Bearer|Digest|Token|ApiKey)\s+(?=\S)/i.exec(value) ?? [];
    const rest = value.slice(scheme.length);
    return `${scheme}${this.secret(rest, `${name}_${key}`, `the header ${key} of ${name}`)}`;
  }

  /** Returns a body or text to send, or `{{NAME}}` if it seems to contain a secret. */
  text(text: string, name: string): string {
    if (!seemsSecret(text)) return text;
    return this.secret(text, name, `all of the text ${name}, which seems to contain a secret`);
  }

  /** Replaces the password of a URL, and query parameters with secret names, by variables. */
  url(url: string, name: string): string {
    const ofUser = `the password in the URL of ${name}`;
    const withUser = mapUrlSecret(url, (secret) =>
      isOnlyTemplates(secret) ? secret : this.secret(secret, `${name}_PASSWORD`, ofUser),
    );
    const [, start = withUser, query = '', fragment = ''] =
      /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(withUser) ?? [];
    const shown = query.replace(/([?&;])([^=&;]+)=([^&;]+)/g, (all, mark, key, value) => {
      const isSecret = isSensitiveHeader(key) || SENSITIVE_NAMES.test(key);
      if (!isSecret || isOnlyTemplates(value)) return all;
      const meaning = `the query parameter ${key} of ${name}`;
      return `${mark}${key}=${this.secret(value, `${name}_${key}`, meaning)}`;
    });
    return `${start}${shown}${fragment}`;
  }
}

/** Whether a text to send seems to contain a secret. */
export function seemsSecret(text: string): boolean {
  return SENSITIVE_TEXT.test(text);
}

/** Removes user, password, query and fragment from a target, for messages. */
export function shownTarget(target: string): string {
  const [bare = ''] = target.split(/[?#]/, 1);
  return bare.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/@]*@/i, '$1');
}

/** All texts in a value, including keys. `seen` contains objects that aliases repeat. */
function* textsIn(value: unknown, seen: Set<object>): Iterable<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const [key, item] of Object.entries(value)) {
    yield key;
    yield* textsIn(item, seen);
  }
}

function isOnlyTemplates(text: string): boolean {
  return /^\s*(?:(?:Basic|Bearer|Digest|Token|ApiKey)\s+)?(?:\{\{\w+\}\}\s*)+$/i.test(text);
}

function variableName(text: string): string {
  const name = text
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .slice(0, MAX_NAME_CHARS)
    .replace(/^_+|_+$/g, '');
  return /^[A-Z]/.test(name) ? name : `SECRET_${name}`.replace(/_$/, '');
}
