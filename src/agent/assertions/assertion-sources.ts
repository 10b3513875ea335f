import {
  type Assertion,
  type AssertionSource,
  patternFieldOf,
} from '../../model/check/assertions/assertion.ts';
import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import type { TlsFacts } from '../../model/result/details/check-detail.ts';
import { quoted, shortenedToChars } from '../../runtime/text/quoted.ts';

/** The value of one assertion source. */
export type SourceValue =
  | { readonly kind: 'text'; readonly text: string }
  /** A text in which a regular expression selects its whole match, whatever its groups. */
  | { readonly kind: 'matched-text'; readonly text: string }
  | { readonly kind: 'json-text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'number'; readonly value: number }
  /** null: the connection had no TLS. */
  | { readonly kind: 'tls'; readonly facts: TlsFacts | null }
  | {
      readonly kind: 'headers';
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
    };

/** A source is absent if there was no response. */
export type SourceValues = Partial<Record<AssertionSource, SourceValue>>;

/**
 * The input of an assertion, before any expression of the user has run:
 * - `value`: a value to compare
 * - `text`: a text, and the regular expression that selects the part to compare
 * - `matched-text`: the same, but the part is the whole match, even if the expression has groups
 * - `json-text`, `json`: a document, and the JSONPath that selects the values to compare
 */
export type AssertionInput =
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'text' | 'matched-text';
      readonly text: string;
      readonly pattern: string | null;
    }
  | { readonly kind: 'json-text'; readonly text: string; readonly path: string | null }
  | { readonly kind: 'json'; readonly value: unknown; readonly path: string | null };

const NULL_INPUT: AssertionInput = { kind: 'value', value: null };

/** The value of each source and the meaning of its property: src/model/README.md, "Assertions". */
export function assertionInput(assertion: Assertion, source: SourceValue): AssertionInput {
  const { property } = assertion;
  const pattern = patternOf(assertion);
  switch (source.kind) {
    case 'number':
      return pattern === null
        ? { kind: 'value', value: source.value }
        : { kind: 'text', text: String(source.value), pattern };
    case 'text':
    case 'matched-text':
      return { kind: source.kind, text: source.text, pattern };
    case 'headers': {
      const text = headerText(source.headers, property);
      return text === null ? NULL_INPUT : { kind: 'text', text, pattern };
    }
    case 'json-text':
      return { kind: 'json-text', text: source.text, path: given(property) };
    case 'tls':
      return certificateValue(source.facts, property);
    case 'json':
      if (assertion.source === 'LATENCY') return member(source.value, property);
      return { kind: 'json', value: source.value, path: given(property) };
  }
}

/** The source of an assertion as a noun phrase for messages. */
export function sourcePhrase(assertion: Assertion): string {
  const { source, property } = assertion;
  const pattern = patternOf(assertion);
  switch (source) {
    case 'STATUS_CODE':
      return 'the status code';
    case 'RESPONSE_TIME':
      return 'the response time in ms';
    case 'RESPONSE_CODE':
      return 'the response code';
    case 'LATENCY':
      return `the ${property} latency in ms`;
    case 'CERTIFICATE':
      return `${property} of the ${OF_CONNECTION.has(property) ? 'TLS connection' : 'certificate'}`;
    case 'IP_ADDRESS':
      return 'the IP address';
    case 'HTTP_VERSION':
      return 'the HTTP version';
    case 'HEADERS':
      return pattern === null
        ? `the header ${property}`
        : `the match of ${quoted(pattern)} in the header ${property}`;
    case 'JSON_BODY':
    case 'JSON_SCHEMA':
    case 'JSON_ANSWER':
    case 'JSON_RESPONSE':
      return given(property) === null
        ? sourceName(source)
        : `${shortenedToChars(property)} of ${sourceName(source)}`;
    case 'TEXT_BODY':
    case 'TEXT_ANSWER':
    case 'RESPONSE_DATA':
      return pattern === null
        ? sourceName(source)
        : `the match of ${quoted(pattern)} in ${sourceName(source)}`;
  }
}

/** Whether the source is the body of an HTTP response. */
export function isOfBody(source: AssertionSource): boolean {
  return source === 'JSON_BODY' || source === 'JSON_SCHEMA' || source === 'TEXT_BODY';
}

/** The name of a text or document in messages. */
export function sourceName(source: AssertionSource): string {
  if (isOfBody(source)) return 'the body';
  if (source === 'JSON_ANSWER' || source === 'TEXT_ANSWER') return 'the answer';
  if (source === 'RESPONSE_DATA') return 'the data';
  return 'the response';
}

/** Whether the value must not be shown (src/scrub/README.md, "What is masked, and where"). */
export function isSecretValue({ source, property }: Assertion): boolean {
  return source === 'HEADERS' && isSensitiveHeader(property);
}

function given(text: string): string | null {
  return text === '' ? null : text;
}

function patternOf(assertion: Assertion): string | null {
  const field = patternFieldOf(assertion);
  return field === null ? null : assertion[field];
}

/** The value of a header by its case-insensitive name; repeated fields joined (RFC 9110 5.3). */
function headerText(
  headers: Readonly<Record<string, string | readonly string[]>>,
  name: string,
): string | null {
  const wanted = name.trim().toLowerCase();
  const values = Object.entries(headers).flatMap(([known, value]) =>
    known.toLowerCase() === wanted ? value : [],
  );
  return values.length === 0 ? null : values.join(', ');
}

/** Properties of the connection; the others are properties of the certificate. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['protocol', 'cipher', 'authorized']);

function certificateValue(facts: TlsFacts | null, property: string): AssertionInput {
  return member(OF_CONNECTION.has(property) ? facts : (facts?.certificate ?? null), property);
}

function member(value: unknown, key: string): AssertionInput {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return NULL_INPUT;
  return { kind: 'value', value: (value as Record<string, unknown>)[key] ?? null };
}
