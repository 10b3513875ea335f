import { patternParts } from './expressions.ts';
import type { DnsRequest } from './request/dns.ts';
import type { ApiRequest, UrlRequest } from './request/http.ts';
import type { IcmpRequest } from './request/icmp.ts';
import type { TcpRequest } from './request/tcp.ts';
import { SCRIPT_FIELD_NAMES, type ScriptFields } from './scripts.ts';

interface Requests {
  readonly URL: UrlRequest;
  readonly API: ApiRequest;
  readonly TCP: TcpRequest;
  readonly DNS: DnsRequest;
  readonly ICMP: IcmpRequest;
}
type CheckType = keyof Requests;

interface AnyFeature {
  readonly checkTypes: readonly string[];
  /** A field of the request. */
  readonly field?: string;
  /** Fields of the check itself and of its group. */
  readonly sharedFields?: readonly string[];
  /** Fields with patterns, in each entry of a list of the request. */
  readonly patternFields?: readonly (readonly [list: string, field: string])[];
  /** A value of a field, in any entry of a list of the request. */
  readonly listValue?: readonly [list: string, field: string, value: string];
  /** A field of the check itself. */
  readonly ownField?: string;
  readonly unused?: readonly unknown[];
  readonly used?: unknown;
}

/** A field of requests, with the values for which an agent need not know the feature. */
type RequestField<Type extends CheckType> = {
  [Field in keyof Requests[Type]]: {
    readonly checkTypes: readonly Type[];
    readonly field: Field;
    /** The first is the field's default. */
    readonly unused: readonly [Requests[Type][Field], ...Requests[Type][Field][]];
  };
}[keyof Requests[Type]];

/** Fields of checks that groups have too: an agent must know the feature if any is used in either. */
interface SharedFields {
  readonly checkTypes: readonly CheckType[];
  readonly sharedFields: readonly (keyof ScriptFields)[];
  readonly unused: readonly [null];
}

/** A field of checks, with the value for which an agent must know the feature. */
interface OwnField {
  readonly checkTypes: readonly CheckType[];
  readonly ownField: 'frequency';
  readonly used: number;
}

/** Patterns in lists of the request: an agent must know the feature if one begins with flags. */
interface PatternFields {
  readonly checkTypes: readonly CheckType[];
  readonly patternFields: readonly (readonly [list: 'assertions' | 'steps', field: string])[];
}

/** A value in a list of the request: an agent must know the feature if any entry has it. */
interface ListValue {
  readonly checkTypes: readonly CheckType[];
  readonly listValue: readonly [list: 'assertions', field: string, value: string];
}

/**
 * Features that an agent must know to run a check that uses them. Agents leave out fields that they
 * do not know: without the TLS of a TCP check, for example, they would connect in plain text and
 * report that it passed. Therefore list a new field here if it changes the verdict, and a new value
 * of any field: agents refuse a check with a value that they do not know.
 */
export const CHECK_FEATURES = {
  TCP_TLS: { checkTypes: ['TCP'], field: 'tls', unused: ['OFF'] },
  TCP_STEPS: { checkTypes: ['TCP'], field: 'steps', unused: [[]] },
  DNS_COMPARE_SERIALS: { checkTypes: ['DNS'], field: 'compareSerials', unused: [false] },
  API_AUTH: { checkTypes: ['API'], field: 'auth', unused: [null] },
  SEVERAL_FAMILIES: {
    checkTypes: ['URL', 'API', 'TCP', 'ICMP'],
    field: 'ipFamily',
    unused: ['IPv4', 'IPv6'],
  },
  API_SCRIPTS: { checkTypes: ['API'], sharedFields: SCRIPT_FIELD_NAMES, unused: [null] },
  /** Agents of earlier releases refuse a check with such a period. */
  SUB_MINUTE_OF_ALL_TYPES: {
    checkTypes: ['URL', 'DNS', 'ICMP'],
    ownField: 'frequency',
    used: 0,
  },
  PATTERN_FLAGS: {
    checkTypes: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
    patternFields: [
      ['assertions', 'property'],
      ['assertions', 'regex'],
      ['steps', 'expect'],
    ],
  },
  STATUS_LISTS: {
    checkTypes: ['URL', 'API'],
    listValue: ['assertions', 'comparison', 'ONE_OF'],
  },
} as const satisfies Readonly<
  Record<
    string,
    | RequestField<'API'>
    | RequestField<'TCP'>
    | RequestField<'DNS'>
    | RequestField<'URL' | 'API' | 'TCP' | 'ICMP'>
    | SharedFields
    | OwnField
    | PatternFields
    | ListValue
  >
>;
export type CheckFeature = keyof typeof CHECK_FEATURES;

export const CHECK_FEATURE_NAMES = Object.keys(CHECK_FEATURES) as readonly CheckFeature[];

/**
 * The features that an agent must have to run a check.
 *
 * @param check its request may lack fields that were added after it was stored
 * @param group of the check; null if it has none
 */
export function featuresNeededBy(
  check: { readonly checkType: string; readonly request: object },
  group: object | null = null,
): readonly CheckFeature[] {
  return CHECK_FEATURE_NAMES.filter((name) => {
    const {
      checkTypes,
      field,
      sharedFields = [],
      patternFields = [],
      listValue,
      ownField,
      unused = [],
      used,
    }: AnyFeature = CHECK_FEATURES[name];
    if (!checkTypes.includes(check.checkType)) return false;
    if (ownField !== undefined) return Reflect.get(check, ownField) === used;
    if (patternFields.some(([list, each]) => hasFlags(check.request, list, each))) return true;
    if (listValue !== undefined) return hasValue(check.request, listValue);
    const isUsed = (holder: object, each: string): boolean => {
      const text = JSON.stringify(Reflect.get(holder, each) ?? unused[0]);
      return !unused.some((value) => JSON.stringify(value) === text);
    };
    if (field !== undefined) return isUsed(check.request, field);
    const holders = group === null ? [check] : [check, group];
    return holders.some((holder) => sharedFields.some((each) => isUsed(holder, each)));
  });
}

type Entry = Readonly<Record<string, unknown>>;

function hasFlags(request: object, list: string, field: string): boolean {
  return entriesOf(request, list).some((entry) => {
    const text = entry[field];
    return typeof text === 'string' && patternParts(text).flags !== '';
  });
}

function hasValue(
  request: object,
  [list, field, value]: readonly [list: string, field: string, value: string],
): boolean {
  return entriesOf(request, list).some((entry) => entry[field] === value);
}

function entriesOf(request: object, list: string): readonly Entry[] {
  const entries: unknown = Reflect.get(request, list);
  return Array.isArray(entries) ? entries : [];
}
