export const COMPARISONS = [
  'EQUALS',
  'NOT_EQUALS',
  'ONE_OF',
  'HAS_KEY',
  'NOT_HAS_KEY',
  'HAS_VALUE',
  'NOT_HAS_VALUE',
  'IS_EMPTY',
  'NOT_EMPTY',
  'GREATER_THAN',
  'LESS_THAN',
  'CONTAINS',
  'NOT_CONTAINS',
  'IS_NULL',
  'NOT_NULL',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** What the fields of an assertion mean: src/model/README.md, "Assertions". */
export const ASSERTION_FIELDS = {
  source: 'What is compared.',
  property:
    'Which part of the source: depending on `source`, a JSONPath, a regular expression, a header or a field. Empty for the whole source.',
  comparison: 'How it is compared with `target`.',
  target: 'What it is compared with; empty if the comparison needs no value.',
  regex: 'A regular expression whose first capture group, or else match, is compared. null: none.',
} as const;

/** Which sources a check type's assertions may read (src/model/README.md, "Assertions"). */
export const ASSERTION_SOURCES = {
  URL: ['STATUS_CODE', 'CERTIFICATE'],
  API: [
    'STATUS_CODE',
    'HEADERS',
    'JSON_BODY',
    'JSON_SCHEMA',
    'TEXT_BODY',
    'RESPONSE_TIME',
    'IP_ADDRESS',
    'HTTP_VERSION',
    'CERTIFICATE',
  ],
  TCP: ['RESPONSE_DATA', 'RESPONSE_TIME', 'CERTIFICATE'],
  DNS: ['RESPONSE_CODE', 'RESPONSE_TIME', 'TEXT_ANSWER', 'JSON_ANSWER', 'CERTIFICATE'],
  ICMP: ['LATENCY', 'JSON_RESPONSE'],
} as const;
export type AssertionSource = (typeof ASSERTION_SOURCES)[keyof typeof ASSERTION_SOURCES][number];

export const LATENCY_PROPERTIES = ['avg', 'min', 'max', 'stdDev'] as const;

/** The fields of `tls` in a result: of the connection, and then of its certificate. */
export const CERTIFICATE_PROPERTIES = [
  'protocol',
  'cipher',
  'authorized',
  'daysRemaining',
  'validFrom',
  'validTo',
  'subject',
  'issuer',
  'subjectAltNames',
  'serialNumber',
  'fingerprint256',
  'keyType',
  'keyBits',
] as const;
export type CertificateProperty = (typeof CERTIFICATE_PROPERTIES)[number];
const NUMBERS_OF_CERTIFICATE: readonly string[] = ['daysRemaining', 'keyBits'];

export const JSON_SOURCES: readonly string[] = [
  'JSON_BODY',
  'JSON_SCHEMA',
  'JSON_ANSWER',
  'JSON_RESPONSE',
];
/** Comparisons with a JSON Schema: whether the body is valid against it, or not. */
export const SCHEMA_COMPARISONS: readonly Comparison[] = ['EQUALS', 'NOT_EQUALS'];
const NUMBER_SOURCES: readonly string[] = ['STATUS_CODE', 'RESPONSE_TIME', 'LATENCY'];
/** Sources whose `property` is one of a list; they have no regular expression. */
const NAMED_VALUE_SOURCES: readonly string[] = ['LATENCY', 'CERTIFICATE'];
/** Sources whose `property` is a regular expression. */
const PATTERN_SOURCES: readonly string[] = ['TEXT_BODY', 'TEXT_ANSWER', 'RESPONSE_DATA'];

/** Whether the value is always a number, unless a regular expression takes a part of it. */
export function isNumber({ source, property }: { source: string; property: string }): boolean {
  if (source === 'CERTIFICATE') return NUMBERS_OF_CERTIFICATE.includes(property);
  return NUMBER_SOURCES.includes(source);
}

/** Continues a sentence that starts with the path of a target. */
export function numberNeeded({ source, property }: { source: string; property: string }): string {
  if (source === 'CERTIFICATE') return `must be a number, as ${property} is one, for example "30"`;
  return `must be a number, as ${source} is one, for example "200"`;
}

/** One assertion of any check type, with its defaults filled in. */
export interface Assertion {
  readonly source: AssertionSource;
  /**
   * JSONPath, header name, regular expression, or property of a latency or certificate; empty means
   * none.
   */
  readonly property: string;
  readonly comparison: Comparison;
  readonly target: string;
  readonly regex: string | null;
}

/**
 * The field with the regular expression of an assertion; null if it has none. `regex` takes precedence
 * over `property`.
 */
export function patternFieldOf({
  source,
  property,
  regex,
}: Pick<Assertion, 'source' | 'property' | 'regex'>): 'property' | 'regex' | null {
  if (JSON_SOURCES.includes(source) || NAMED_VALUE_SOURCES.includes(source)) return null;
  if (regex !== null && regex !== '') return 'regex';
  return PATTERN_SOURCES.includes(source) && property !== '' ? 'property' : null;
}

/**
 * Whether it replaces the criterion of a URL or API check (src/model/README.md, "What passes and what
 * fails").
 */
export function decidesStatus({
  source,
  comparison,
}: {
  readonly source: string;
  readonly comparison: string;
}): boolean {
  return source === 'STATUS_CODE' && comparison === 'ONE_OF';
}

/** An assertion with its outcome; `error` is null if it passed. */
export interface AssertionResult extends Assertion {
  /** The compared value, cut at 10 KB. */
  readonly actual: string | null;
  readonly error: string | null;
}
