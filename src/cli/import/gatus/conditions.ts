import type {
  Assertion,
  AssertionSource,
  Comparison,
} from '../../../model/check/assertions/assertion.ts';
import { DAY_MS } from '../../../model/time-units.ts';
import { assertion, jsonPathOf } from '../common/assertions.ts';
import type { Reason } from '../common/fields.ts';
import { escapedPattern, patternFromGlob } from '../common/patterns.ts';
import { durationMs } from '../common/periods.ts';

export type ProbeType = 'HTTP' | 'TCP' | 'DNS' | 'ICMP';

/** The requirement of a condition. */
export type Meaning =
  | { readonly kind: 'assertions'; readonly assertions: readonly Assertion[] }
  | { readonly kind: 'status'; readonly accepts: (status: number) => boolean }
  /** Already required by every check of the type. */
  | { readonly kind: 'always' }
  | { readonly kind: 'left-out'; readonly reason: Reason };

type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** The right side of a condition: a text, a glob, or one of several texts. */
type Operand =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'glob'; readonly glob: string }
  | { readonly kind: 'any'; readonly texts: readonly string[] };

const BY_HAND = 'write an assertion by hand';
const ALWAYS: Meaning = { kind: 'always' };

/** One of the `conditions` of an endpoint. */
export function meaningOf(condition: string, type: ProbeType): Meaning {
  const [, left = '', operator, right = ''] =
    /^\s*(.*?) +(==|!=|<=|>=|<|>) +(.*?)\s*$/s.exec(condition) ?? [];
  if (operator === undefined) return leftOut('the import does not understand the condition');
  if (/^\[[A-Z_]+\]/.test(right) || /\$\w|\$\{/.test(condition)) {
    return leftOut('assertions compare with fixed values only');
  }
  const [, name = '', argument = ''] = /^(len|has)\((.*)\)$/.exec(left) ?? [];
  const operand = operandOf(right);
  if (name !== '') return ofFunction(name, argument, operator as Operator, operand, type);
  const [, placeholder = '', path = ''] = /^\[([A-Z_]+)\](.*)$/s.exec(left) ?? [];
  return ofPlaceholder(placeholder, path, operator as Operator, operand, type);
}

function leftOut(why: string, advice = BY_HAND): Meaning {
  return { kind: 'left-out', reason: [why, advice] };
}

function only(...assertions: readonly Assertion[]): Meaning {
  return { kind: 'assertions', assertions };
}

function operandOf(right: string): Operand {
  const [, name, inside = ''] = /^(pat|any)\((.*)\)$/s.exec(right) ?? [];
  if (name === 'pat') return { kind: 'glob', glob: inside };
  if (name === 'any') return { kind: 'any', texts: inside.split(',').map((text) => text.trim()) };
  return { kind: 'text', text: right };
}

function ofPlaceholder(
  placeholder: string,
  path: string,
  operator: Operator,
  operand: Operand,
  type: ProbeType,
): Meaning {
  switch (placeholder) {
    case 'STATUS':
      return type === 'HTTP' ? ofStatus(operator, operand) : leftOut('only HTTP has a status');
    case 'RESPONSE_TIME':
      return ofResponseTime(operator, operand, type);
    case 'IP':
      if (type !== 'HTTP') return leftOut(`${type} checks have no assertions on the address`);
      return ofText('IP_ADDRESS', operator, operand);
    case 'CONNECTED':
      return isTrueOperand(operator, operand)
        ? ALWAYS
        : leftOut('no connection is wanted', 'set shouldFail of the check');
    case 'CERTIFICATE_EXPIRATION':
      return ofExpiry(operator, operand);
    case 'DOMAIN_EXPIRATION':
      return leftOut(
        'checks do not ask when domains expire',
        'keep another reminder for the domain',
      );
    case 'DNS_RCODE':
      return type === 'DNS'
        ? ofText('RESPONSE_CODE', operator, operand)
        : leftOut('only DNS checks have a response code');
    case 'BODY':
      return ofBody(path, operator, operand, type);
    default:
      return leftOut('the import does not know the placeholder');
  }
}

function isTrueOperand(operator: Operator, operand: Operand): boolean {
  const text = operand.kind === 'text' ? operand.text : '';
  return (operator === '==' && text === 'true') || (operator === '!=' && text === 'false');
}

function ofStatus(operator: Operator, operand: Operand): Meaning {
  const matches = matcherOf(operand);
  if (operator === '==') return { kind: 'status', accepts: (status) => matches(String(status)) };
  if (operator === '!=') return { kind: 'status', accepts: (status) => !matches(String(status)) };
  const limit = numberIn(operand);
  if (limit === null) return leftOut('the status is compared with something that is not a number');
  return { kind: 'status', accepts: (status) => isOrdered(status, operator, limit) };
}

function matcherOf(operand: Operand): (text: string) => boolean {
  if (operand.kind === 'text') return (text) => text === operand.text;
  if (operand.kind === 'any') return (text) => operand.texts.includes(text);
  const pattern = new RegExp(patternFromGlob(operand.glob));
  return (text) => pattern.test(text);
}

function isOrdered(value: number, operator: Operator, limit: number): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    default:
      return value >= limit;
  }
}

function numberIn(operand: Operand): number | null {
  return operand.kind === 'text' && /^-?\d+(?:\.\d+)?$/.test(operand.text)
    ? Number(operand.text)
    : null;
}

/** Uses whole milliseconds, so that `<= 500` becomes `< 501`. */
function ofResponseTime(operator: Operator, operand: Operand, type: ProbeType): Meaning {
  const limitMs = numberIn(operand);
  if (limitMs === null || operator === '==' || operator === '!=') {
    return leftOut('the response time is not compared with a limit');
  }
  const isUpper = operator === '<' || operator === '<=';
  const shift = operator === '<=' ? 1 : operator === '>=' ? -1 : 0;
  const comparison = isUpper ? 'LESS_THAN' : 'GREATER_THAN';
  const target = String(limitMs + shift);
  return type === 'ICMP'
    ? only(assertion('LATENCY', comparison, target, { property: 'avg' }))
    : only(assertion('RESPONSE_TIME', comparison, target));
}

/** Uses whole remaining days, rounded down: more than 48 h means at least 2. */
function ofExpiry(operator: Operator, operand: Operand): Meaning {
  const limitMs = operand.kind === 'text' ? durationMs(operand.text) : null;
  if (limitMs === null || (operator !== '>' && operator !== '>=')) {
    return leftOut('the import understands only a shortest time until the certificate expires');
  }
  const days = Math.ceil(limitMs / DAY_MS);
  return only(
    assertion('CERTIFICATE', 'GREATER_THAN', String(days - 1), { property: 'daysRemaining' }),
  );
}

function ofBody(path: string, operator: Operator, operand: Operand, type: ProbeType): Meaning {
  if (type === 'ICMP') return leftOut('echo replies have no body');
  if (type === 'DNS') return ofAnswer(operator, operand);
  if (type === 'TCP') {
    return path === ''
      ? ofText('RESPONSE_DATA', operator, operand)
      : leftOut('TCP checks have no assertions on JSON');
  }
  if (path === '') return ofText('TEXT_BODY', operator, operand);
  const property = jsonPathOf(path);
  if (property === null) return leftOut('the path has no translation to JSONPath (RFC 9535)');
  return ofJson(property, operator, operand);
}

const POSITIVE: Readonly<Record<Operator, Comparison | null>> = {
  '==': 'EQUALS',
  '!=': 'NOT_EQUALS',
  '<': 'LESS_THAN',
  '>': 'GREATER_THAN',
  '<=': null,
  '>=': null,
};

/** A source whose text may be matched with a pattern. */
function ofText(source: AssertionSource, operator: Operator, operand: Operand): Meaning {
  const isNegative = operator === '!=';
  if (operand.kind === 'text') {
    const comparison = POSITIVE[operator];
    if (comparison === null)
      return leftOut('assertions compare with LESS_THAN and GREATER_THAN only');
    return only(assertion(source, comparison, operand.text));
  }
  if (operator !== '==' && !isNegative) return leftOut('pat and any are for == and != only');
  const contained = operand.kind === 'glob' ? containedIn(operand.glob) : null;
  if (contained !== null) {
    return only(assertion(source, isNegative ? 'NOT_CONTAINS' : 'CONTAINS', contained));
  }
  const regex = patternOfOperand(operand);
  return only(assertion(source, isNegative ? 'IS_NULL' : 'NOT_NULL', '', { regex }));
}

function patternOfOperand(operand: Operand): string {
  if (operand.kind === 'glob') return patternFromGlob(operand.glob);
  const texts = operand.kind === 'any' ? operand.texts : [operand.text];
  return `^(?:${texts.map(escapedPattern).join('|')})$`;
}

/** `*text*`, the usual form. */
function containedIn(glob: string): string | null {
  return /^\*([^*?]+)\*$/s.exec(glob)?.[1] ?? null;
}

function ofJson(property: string, operator: Operator, operand: Operand): Meaning {
  const isNegative = operator === '!=';
  if (operand.kind === 'text') {
    const comparison = POSITIVE[operator];
    if (comparison !== null) {
      return only(assertion('JSON_BODY', comparison, operand.text, { property }));
    }
    const limit = numberIn(operand);
    if (limit === null) return leftOut('a value is compared with something that is not a number');
    return bySchema(property, false, {
      type: 'number',
      [operator === '<=' ? 'maximum' : 'minimum']: limit,
    });
  }
  if (operator !== '==' && !isNegative) return leftOut('pat and any are for == and != only');
  if (operand.kind === 'any') {
    const values = operand.texts.flatMap((text) => [text, ...literalOf(text)]);
    return bySchema(property, isNegative, { enum: values });
  }
  const contained = containedIn(operand.glob);
  if (contained === null) {
    return bySchema(property, isNegative, {
      type: 'string',
      pattern: patternFromGlob(operand.glob),
    });
  }
  const comparison = isNegative ? 'NOT_CONTAINS' : 'CONTAINS';
  return only(assertion('JSON_BODY', comparison, contained, { property }));
}

/** The number or boolean that a text may stand for. */
function literalOf(text: string): readonly (number | boolean)[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  return /^-?\d+(?:\.\d+)?$/.test(text) ? [Number(text)] : [];
}

function bySchema(property: string, isNegative: boolean, schema: object): Meaning {
  const comparison = isNegative ? 'NOT_EQUALS' : 'EQUALS';
  const own = property === '$' ? '' : property;
  return only(assertion('JSON_SCHEMA', comparison, JSON.stringify(schema), { property: own }));
}

/** Matches a record whose data is the text, in an answer in the format of dig. */
function ofAnswer(operator: Operator, operand: Operand): Meaning {
  if (operator !== '==' && operator !== '!=') return leftOut('records have no order');
  const texts = operand.kind === 'any' ? operand.texts : [];
  const inside =
    operand.kind === 'glob'
      ? operand.glob.split('*').map(escapedPattern).join('\\S*').replaceAll('\\?', '\\S')
      : `(?:${(operand.kind === 'text' ? [operand.text] : texts).map(escapedPattern).join('|')})`;
  const regex = `\\sIN\\s.*[\\s"]${inside}\\.?"?(?:\\s|$)`;
  const comparison = operator === '==' ? 'NOT_NULL' : 'IS_NULL';
  return only(assertion('TEXT_ANSWER', comparison, '', { regex }));
}

function ofFunction(
  name: string,
  argument: string,
  operator: Operator,
  operand: Operand,
  type: ProbeType,
): Meaning {
  const [, path = null] = /^\[BODY\](.*)$/s.exec(argument) ?? [];
  const property = path === null ? null : jsonPathOf(path);
  if (type !== 'HTTP' || property === null) {
    return leftOut(`the import understands ${name} of the body of HTTP responses only`);
  }
  if (name === 'has') {
    const text = operand.kind === 'text' ? operand.text : '';
    if (text !== 'true' && text !== 'false')
      return leftOut('has is not compared with true or false');
    const isWanted = (operator === '==') === (text === 'true');
    return only(assertion('JSON_BODY', isWanted ? 'NOT_NULL' : 'IS_NULL', '', { property }));
  }
  const length = numberIn(operand);
  if (length === null) return leftOut('a length is compared with something that is not a number');
  return ofLength(property, operator, length);
}

/** The length of a list or a text. Ignores that Gatus also counts the characters of other JSON. */
function ofLength(property: string, operator: Operator, length: number): Meaning {
  const least = { '==': length, '!=': length, '>': length + 1, '>=': length, '<': 0, '<=': 0 };
  const most = { '==': length, '!=': length, '<': length - 1, '<=': length, '>': null, '>=': null };
  const [min, max] = [least[operator], most[operator]];
  if (min < 0 || (max !== null && max < 0)) return leftOut('no length is negative');
  const limits = (kind: string): object => ({
    ...(min === 0 ? {} : { [`min${kind}`]: min }),
    ...(max === null ? {} : { [`max${kind}`]: max }),
  });
  return bySchema(property, operator === '!=', {
    anyOf: [
      { type: 'array', ...limits('Items') },
      { type: 'string', ...limits('Length') },
    ],
  });
}
