import { parseJsonPath, parsePattern } from '../expressions.ts';
import { compileTemplate } from '../template.ts';
import {
  type Assertion,
  type Comparison,
  isNumber,
  JSON_SOURCES,
  numberNeeded,
  patternFieldOf,
} from './assertion.ts';
import { parseJsonSchema } from './json-schema.ts';
import { parseNumber } from './numeric.ts';
import { possibleValues } from './possible-values/possible-values.ts';

/** An assertion that no response can meet. */
export interface AssertionProblem {
  /** Inside the list of assertions. */
  readonly path: readonly [number, Field];
  /**
   * Follows the path. Quotes no text of the check, which may be secret, except for names of ours.
   */
  readonly message: string;
}

type Field = 'source' | 'property' | 'comparison' | 'target' | 'regex';
type FieldProblem = { readonly field: Field; readonly message: string };

/**
 * The assertions that fail for every response (src/model/README.md, "Assertions that are refused").
 * Schemas do not contain this rule: stored checks remain valid. Skips null.
 *
 * @param request of the check, which may be invalid; null if it is not known
 */
export function assertionProblems(
  assertions: readonly (Assertion | null)[],
  request: unknown = null,
): readonly AssertionProblem[] {
  return assertions.flatMap((assertion, index) => {
    const found = assertion === null ? null : problemWith(assertion, request);
    return found === null ? [] : [{ path: [index, found.field], message: found.message }];
  });
}

function problemWith(assertion: Assertion, request: unknown): FieldProblem | null {
  return (
    withoutTls(assertion, request) ??
    patternProblem(assertion) ??
    jsonPathProblem(assertion) ??
    (assertion.source === 'JSON_SCHEMA' ? schemaProblem(assertion) : comparisonProblem(assertion))
  );
}

/** There is no certificate where the check never uses TLS. */
function withoutTls({ source }: Assertion, request: unknown): FieldProblem | null {
  if (source !== 'CERTIFICATE' || typeof request !== 'object' || request === null) return null;
  const {
    url,
    followRedirects,
    hostname,
    port,
    protocol,
    tls = 'OFF',
  } = request as Readonly<Record<string, unknown>>;
  const isPlainUrl = typeof url === 'string' && /^http:/i.test(url) && followRedirects === false;
  const isPlainTcp = hostname !== undefined && port !== undefined && tls === 'OFF';
  const isPlainDns = protocol === 'UDP' || protocol === 'TCP';
  const why = isPlainUrl
    ? 'the URL is for http and redirects are not followed'
    : isPlainTcp
      ? 'tls is OFF'
      : isPlainDns
        ? `the protocol is ${protocol}, without TLS as in DOT and DOH`
        : null;
  if (why === null) return null;
  return { field: 'source', message: `needs TLS, but ${why}: it fails for every response` };
}

function schemaProblem({ comparison, target }: Assertion): FieldProblem | null {
  const parsed = parseJsonSchema(target);
  if (typeof parsed === 'string') return invalidExpression('target', 'JSON Schema', parsed);
  if (parsed.schema !== (comparison === 'NOT_EQUALS')) return null;
  const message = `must be another one: ${comparison} fails with it for every response`;
  return { field: 'target', message };
}

const MAX_REASON_CHARS = 200;

function patternProblem(assertion: Assertion): FieldProblem | null {
  const field = patternFieldOf(assertion);
  const parsed = field === null ? null : parsePattern(assertion[field] ?? '');
  return field === null || typeof parsed !== 'string'
    ? null
    : invalidExpression(field, 'regular expression', parsed);
}

function jsonPathProblem({ source, property }: Assertion): FieldProblem | null {
  const parsed = JSON_SOURCES.includes(source) && property !== '' ? parseJsonPath(property) : null;
  return typeof parsed === 'string' ? invalidExpression('property', 'JSONPath', parsed) : null;
}

function invalidExpression(field: Field, kind: string, reason: string): FieldProblem {
  const message = `is not a valid ${kind} (${reason.slice(0, MAX_REASON_CHARS)}); correct it`;
  return { field, message };
}

/** These fail or pass whatever the target is. */
const WITHOUT_TARGET: ReadonlySet<Comparison> = new Set(['IS_NULL', 'IS_EMPTY', 'HAS_KEY']);

function comparisonProblem(assertion: Assertion): FieldProblem | null {
  const { comparison, target } = assertion;
  const hasTarget = !WITHOUT_TARGET.has(comparison);
  // The value of a variable is unknown.
  if (hasTarget && compileTemplate(target) !== null) return null;
  const isNumeric = isNumber(assertion) && patternFieldOf(assertion) === null;
  const needsNumber = isNumeric && hasTarget && parseNumber(target) === null;
  // As text, 9 is greater than 800ms.
  const isOrder = comparison === 'GREATER_THAN' || comparison === 'LESS_THAN';
  const values = possibleValues(assertion);
  if (values.canMeet(comparison, target) && !(needsNumber && isOrder)) return null;
  if (needsNumber && comparison !== 'CONTAINS' && comparison !== 'ONE_OF') {
    return { field: 'target', message: numberNeeded(assertion) };
  }
  const fails = `${comparison} fails for every response`;
  if (values.instead !== undefined) {
    return { field: 'property', message: `${values.instead}: ${values.what}, so ${fails}` };
  }
  if (comparison === 'LESS_THAN' && target === '') {
    const message = `is needed: nothing is less than an empty text, so ${fails}`;
    return { field: 'target', message };
  }
  return hasTarget
    ? { field: 'target', message: `must be another one: ${fails} with it, as ${values.what}` }
    : { field: 'comparison', message: `must be another one: ${fails}, as ${values.what}` };
}
