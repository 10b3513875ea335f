import { MASK } from '../../model/credentials/mask.ts';
import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import { maskUserinfo } from '../../model/credentials/url-secret.ts';
import { storableText } from '../../runtime/text/storable-text.ts';
import { NEW_NAMES } from '../http/resources/deprecated-names.ts';
import { sortedJson } from '../http/resources/sorted-json.ts';

/** A changed field. Left out where the resource did not have it, or no longer has it. */
export type FieldChange = {
  /** With dots for the fields of objects: `request.url`. */
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
};

export interface Changes {
  readonly changes: readonly FieldChange[];
  /** Changed fields that are left out, because the row would be too long. */
  readonly dropped: number;
}

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 4;
const MAX_FIELDS = 100;
/** Maximum length of the JSON of one value. */
const MAX_VALUE_CHARS = 1_000;
/** Maximum length of the JSON of all changes of an entry. */
const MAX_CHANGES_CHARS = 16_000;
const CUT = '… (cut)';

/**
 * The fields that differ, as texts or JSON values, without secrets and of bounded length.
 *
 * @param before the resource as the role `read` sees it; null if there is none
 */
export function changesBetween(before: unknown, after: unknown): Changes {
  const [from, to] = [plain(before), plain(after)];
  const paths = differingPaths(from, to, []);
  const [maskedFrom, maskedTo] = [withoutSecrets(from), withoutSecrets(to)];
  const changes: FieldChange[] = [];
  let chars = 0;
  for (const path of paths.slice(0, MAX_FIELDS)) {
    const change = {
      field: path.join('.'),
      ...sideOf('before', valueAt(maskedFrom, path)),
      ...sideOf('after', valueAt(maskedTo, path)),
    };
    chars += JSON.stringify(change).length;
    if (chars > MAX_CHANGES_CHARS) break;
    changes.push(change);
  }
  return { changes, dropped: paths.length - changes.length };
}

/** Fields that are computed from other fields or other resources. */
const DERIVED_FIELDS: readonly string[] = ['servedChecks'];

/** Converts a resource to JSON as in its response, without old names of fields and without computed fields. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const shown: unknown = JSON.parse(JSON.stringify(value));
  if (!isObject(shown)) return shown;
  const isOwn = (name: string): boolean => !(name in NEW_NAMES) && !DERIVED_FIELDS.includes(name);
  return Object.fromEntries(Object.entries(shown).filter(([name]) => isOwn(name)));
}

function differingPaths(
  before: unknown,
  after: unknown,
  path: readonly string[],
): readonly (readonly string[])[] {
  if (path.length < MAX_DEPTH && isWhole(before, path) && isWhole(after, path)) {
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
    return [...names].flatMap((name) =>
      differingPaths(fieldOf(before, name), fieldOf(after, name), [...path, name]),
    );
  }
  return sortedJson(before ?? null) === sortedJson(after ?? null) ? [] : [path];
}

/** Whether the fields of a value are compared one by one. null at the top is a resource that does not exist. */
function isWhole(value: unknown, path: readonly string[]): value is Fields | null {
  return isObject(value) || (value === null && path.length === 0);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(fieldOf, value);
}

function sideOf(side: 'before' | 'after', value: unknown): Partial<FieldChange> {
  if (value === undefined || value === null) return {};
  const json = JSON.stringify(value);
  if (json.length <= MAX_VALUE_CHARS) return { [side]: value };
  const text = typeof value === 'string' ? value : json;
  // The cut may have split a surrogate pair.
  return { [side]: `${storableText(text.slice(0, MAX_VALUE_CHARS))}${CUT}` };
}

/**
 * Masks values that the role `read` may see, but that must not be stored in a log for a year: locked variables
 * and locked pairs, values with a sensitive name, and passwords in URLs.
 */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('://') ? maskUserinfo(value) : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const isHidden = value.locked === true || value.secret === true || hasSensitiveKey(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const isSecret = name === 'value' && isHidden && one !== null;
      return [name, isSecret ? MASK : withoutSecrets(one)];
    }),
  );
}

function hasSensitiveKey({ key }: Fields): boolean {
  return typeof key === 'string' && isSensitiveHeader(key);
}
