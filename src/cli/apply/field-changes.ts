import { isDeepStrictEqual } from 'node:util';
import { SERVICE_CHANNEL_TYPES } from '../../model/alerting/service-channels.ts';
import { maskedFieldsOf, secretFieldsOf } from '../../model/alerting/service-targets.ts';
import { isCredential } from '../../model/credentials/credential-text.ts';
import { MASK } from '../../model/credentials/mask.ts';
import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import { mapUrlSecret, maskUserinfo, urlSecretOf } from '../../model/credentials/url-secret.ts';
import { UNKNOWN_SECRET } from './normal-form.ts';

/** One field that differs, as text for people. Possible secrets are masked. */
export interface FieldChange {
  /** For example `request.assertions[0].target`. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** Whether it is a secret value that the service does not return, which may be unchanged. */
  readonly isWrittenAgain: boolean;
}

const NOTHING = '(none)';
const MAX_SHOWN_CHARS = 80;

/** Fields whose text may be a credential, at any depth: a user name alone can be a token. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'username',
  'password',
  'body',
  'data',
  'webhookSecret',
  ...SERVICE_CHANNEL_TYPES.flatMap((type) => [...secretFieldsOf(type), ...maskedFieldsOf(type)]),
]);
/** Many services take a token in the query, and a variable may be one. */
const SECRET_LISTS: ReadonlySet<string> = new Set(['queryParameters', 'variables']);

type Path = readonly (string | number)[];

/**
 * Returns the fields that differ, in the order of the second object.
 *
 * @param isSecret whether a text must be masked in any field; the text that it replaces is masked, too
 */
export function fieldChanges(
  before: object,
  after: object,
  isSecret: (text: string) => boolean = () => false,
): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  compare(before, after, [], { changes, isSecret });
  return changes;
}

/** The names of the top-level fields that differ: an update sends each of them as a whole. */
export function changedFields(before: object, after: object): readonly string[] {
  const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...other.keys(), ...one.keys()])].filter(
    (field) => !isDeepStrictEqual(one.get(field), other.get(field)),
  );
}

interface Comparison {
  /** Receives the differences. */
  readonly changes: FieldChange[];
  readonly isSecret: (text: string) => boolean;
}

function compare(before: unknown, after: unknown, path: Path, comparison: Comparison): void {
  if (isDeepStrictEqual(before, after)) return;
  if (isInner(before) && isInner(after)) {
    const keys = new Set([...Object.keys(after), ...Object.keys(before)]);
    for (const key of keys) {
      compare(memberOf(before, key), memberOf(after, key), [...path, key], comparison);
    }
    return;
  }
  if (isEntryList(before) && isEntryList(after)) {
    const length = Math.max(before.length, after.length);
    for (let n = 0; n < length; n += 1) compare(before[n], after[n], [...path, n], comparison);
    return;
  }
  const { changes, isSecret } = comparison;
  // Some fields are masked in part, which may be enough.
  const left = [before, after].map((each) =>
    typeof each === 'string' ? masked(each, path) : each,
  );
  const hidden = left.some((each) => hasText(each, isSecret));
  const show = (value: unknown): string => shown(hidden ? withoutTexts(value) : value, path);
  changes.push({
    path: pathText(path),
    before: show(before),
    after: show(after),
    isWrittenAgain: isUnknown(before, after),
  });
}

function hasText(value: unknown, isSecret: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isSecret(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => hasText(each, isSecret));
}

/** Replaces each text in a value by a mask; a pair keeps its key. */
function withoutTexts(value: unknown): unknown {
  if (typeof value === 'string') return MASK;
  if (isPair(value)) return { ...value, value: MASK };
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutTexts(member)]),
  );
}

/** An object that is compared field by field; a pair of key and value counts as one field. */
function isInner(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !isPair(value);
}

function isEntryList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isObject);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Pair {
  readonly key: string;
  readonly value: string;
  /** Whether a header or a query parameter is locked. */
  readonly locked?: boolean;
  /** Whether a variable is secret. */
  readonly secret?: boolean;
}

function isPair(value: unknown): value is Pair {
  return isObject(value) && typeof value.key === 'string' && typeof value.value === 'string';
}

/** Whether only a secret value may differ, which cannot be compared. */
function isUnknown(before: unknown, after: unknown): boolean {
  if (isPair(before) && isPair(after)) {
    if (before.value !== UNKNOWN_SECRET || before.key !== after.key) return false;
    if ((before.locked ?? false) !== (after.locked ?? false)) return false;
    if (after.secret === true || after.locked === true) return true;
    return isSensitiveHeader(after.key) && isCredential(after.value);
  }
  if (typeof before !== 'string' || typeof after !== 'string') return false;
  if (before === UNKNOWN_SECRET) return isCredential(after);
  if (urlSecretOf(before)?.text !== UNKNOWN_SECRET) return false;
  const secret = urlSecretOf(after);
  if (secret === null || !isCredential(secret.text)) return false;
  return mapUrlSecret(after, () => UNKNOWN_SECRET) === before;
}

function memberOf(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

function shown(value: unknown, path: Path): string {
  if (value === undefined) return NOTHING;
  if (isPair(value)) return cut(pairText(value, path));
  return cut(JSON.stringify(masked(value, path)));
}

function pairText({ key, value, locked = false, secret = false }: Pair, path: Path): string {
  // Receivers of alerts take tokens in headers of any name.
  const isSecret =
    locked ||
    path[0] === 'config' ||
    isSensitiveHeader(key) ||
    path.some((step) => SECRET_LISTS.has(String(step)));
  return `${key}: ${isSecret ? MASK : value}${locked ? ' (locked)' : ''}${secret ? ' (secret)' : ''}`;
}

/** Masks possible secrets in a value. */
function masked(value: unknown, path: Path): unknown {
  const field = path.findLast((step) => typeof step === 'string') ?? '';
  if (typeof value === 'string') {
    if (SECRET_FIELDS.has(field)) return value === '' ? '' : MASK;
    if (path[0] === 'config' && field === 'url') return maskedHook(value);
    // A template may replace the scheme, which the URL parser requires.
    return field === 'url' || URL.canParse(value) ? maskedUrl(value) : value;
  }
  if (isPair(value)) return pairText(value, path);
  if (Array.isArray(value)) return value.map((entry, n) => masked(entry, [...path, n]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, masked(member, [...path, key])]),
  );
}

/** Masks the path of an alert channel's URL, which is secret. */
function maskedHook(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/${MASK}` : MASK;
}

/** Masks the user and the query of a URL. */
function maskedUrl(text: string): string {
  return maskUserinfo(text).replace(/\?[^#]+/, `?${MASK}`);
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
