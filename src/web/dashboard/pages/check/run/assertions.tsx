import { StateMark } from '../../../parts/states/state-mark.tsx';
import type { AssertionResult } from '../model.ts';
import { differenceOf } from './text-difference.ts';

const SOURCES: Readonly<Record<AssertionResult['source'], string>> = {
  STATUS_CODE: 'status code',
  HEADERS: 'header',
  JSON_BODY: 'JSON body',
  JSON_SCHEMA: 'JSON schema',
  IP_ADDRESS: 'IP address',
  HTTP_VERSION: 'HTTP version',
  TEXT_BODY: 'body',
  RESPONSE_TIME: 'response time',
  RESPONSE_DATA: 'data',
  RESPONSE_CODE: 'response code',
  TEXT_ANSWER: 'answer',
  JSON_ANSWER: 'JSON answer',
  LATENCY: 'latency',
  JSON_RESPONSE: 'JSON response',
  CERTIFICATE: 'certificate',
};

const COMPARISONS: Readonly<Record<AssertionResult['comparison'], string>> = {
  EQUALS: 'equals',
  NOT_EQUALS: 'does not equal',
  ONE_OF: 'is one of',
  HAS_KEY: 'has the key',
  NOT_HAS_KEY: 'does not have the key',
  HAS_VALUE: 'has the value',
  NOT_HAS_VALUE: 'does not have the value',
  IS_EMPTY: 'is empty',
  NOT_EMPTY: 'is not empty',
  GREATER_THAN: 'is greater than',
  LESS_THAN: 'is less than',
  CONTAINS: 'contains',
  NOT_CONTAINS: 'does not contain',
  IS_NULL: 'is null',
  NOT_NULL: 'is not null',
};

const WITHOUT_TARGET: ReadonlySet<string> = new Set([
  'IS_EMPTY',
  'NOT_EMPTY',
  'IS_NULL',
  'NOT_NULL',
]);

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });
const TIMES: ReadonlySet<AssertionResult['source']> = new Set(['RESPONSE_TIME', 'LATENCY']);

/** With the unit: times are numbers of milliseconds. */
function valueText(source: AssertionResult['source'], value: string): string {
  // Not rounded to seconds: 2,003 ms and 2,000 ms would look alike.
  return TIMES.has(source) && /^\d+(?:\.\d+)?$/.test(value)
    ? `${NUMBER.format(Number(value))} ms`
    : value;
}

/** The expected and the actual values. */
export function Assertions({ assertions }: { readonly assertions: readonly AssertionResult[] }) {
  return (
    <table class="table check-assertions" aria-label="Assertions">
      <thead>
        <tr>
          <th scope="col">Result</th>
          <th scope="col">Expected</th>
          <th scope="col">Actual</th>
        </tr>
      </thead>
      <tbody>
        {assertions.map((assertion, index) => (
          <tr key={index}>
            <td data-head="Result">
              <StateMark
                state={assertion.error === null ? 'passing' : 'failing'}
                word={assertion.error === null ? 'Met' : 'Not met'}
              />
            </td>
            <td data-head="Expected">
              <span>
                {SOURCES[assertion.source]}{' '}
                {assertion.property !== '' && <code>{assertion.property}</code>}{' '}
                {assertion.regex !== null && assertion.regex !== '' && (
                  <>
                    matched by <code>{assertion.regex}</code>{' '}
                  </>
                )}
                {COMPARISONS[assertion.comparison]}{' '}
                {!WITHOUT_TARGET.has(assertion.comparison) && (
                  <b>{valueText(assertion.source, assertion.target)}</b>
                )}
              </span>
            </td>
            <td data-head="Actual" class="mono">
              <Actual assertion={assertion} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Actual({ assertion }: { readonly assertion: AssertionResult }) {
  const { source, comparison, error } = assertion;
  const target = valueText(source, assertion.target);
  const actual = assertion.actual === null ? null : valueText(source, assertion.actual);
  if (error === null) return <span>{actual ?? 'null'}</span>;
  // The error names the parts that fail.
  if (actual === null || source === 'JSON_SCHEMA') return <span class="failing">{error}</span>;
  if (comparison !== 'EQUALS') return <ins>{actual}</ins>;
  const { before, one, other, after } = differenceOf(target, actual);
  return (
    <span title={error}>
      {before}
      {one !== '' && <del>{one}</del>}
      {other !== '' && <ins>{other}</ins>}
      {after}
    </span>
  );
}
