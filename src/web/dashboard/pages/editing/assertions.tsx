import { useCheckForm } from './check-form.ts';
import { valueAt } from './draft.ts';
import { factsAt } from './facts.ts';
import { Cell, Rows } from './rows.tsx';

const PATH = 'request.assertions';
/** The meaning of the property of each source. Sources that are missing here have no property. */
const PROPERTIES: Readonly<Record<string, string>> = {
  HEADERS: 'name of the header',
  JSON_BODY: 'JSONPath: $.status',
  JSON_SCHEMA: 'JSONPath, optional',
  JSON_ANSWER: 'JSONPath: $.Answer[0].data',
  JSON_RESPONSE: 'JSONPath: $.packetLoss',
  TEXT_BODY: 'pattern, optional, such as (?i)ok',
  TEXT_ANSWER: 'pattern, optional, such as (?i)ok',
  RESPONSE_DATA: 'pattern, optional, such as (?i)ok',
  LATENCY: 'avg, min, max or stdDev',
  CERTIFICATE: 'daysRemaining, issuer, keyBits, …',
};
const TARGETS: Readonly<Record<string, string>> = {
  STATUS_CODE: '200',
  RESPONSE_TIME: 'ms',
  LATENCY: 'ms',
  RESPONSE_CODE: 'NOERROR',
  JSON_SCHEMA: '{"type": "object"}',
  HTTP_VERSION: '2',
};
/** Examples for comparisons whose target has another form. */
const TARGETS_OF_COMPARISONS: Readonly<Record<string, string>> = { ONE_OF: '200-299, 404' };
const WITHOUT_TARGET: ReadonlySet<unknown> = new Set([
  'IS_EMPTY',
  'NOT_EMPTY',
  'IS_NULL',
  'NOT_NULL',
]);

/** `JSON_BODY` becomes `JSON body`. */
const wordOf = (value: string | number): string =>
  String(value)
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\b(json|http|ip)\b/, (word) => word.toUpperCase());

/** The conditions that a response must meet. */
export function Assertions() {
  const { type } = useCheckForm();
  const [source] = factsAt(type, `${PATH}[].source`)?.values ?? [];
  return (
    <Rows
      path={PATH}
      legend="Assertions"
      isLegendHidden
      one="assertion"
      empty={{ source, property: '', comparison: 'EQUALS', target: '' }}
      row={(at, index) => <Assertion at={at} index={index} />}
    />
  );
}

/** Fields that its source or comparison does not use are shown only if they are set. */
function Assertion({ at, index }: { readonly at: string; readonly index: number }) {
  const { draft, problemAt } = useCheckForm();
  const textOf = (name: string): string => String(valueAt(draft, `${at}.${name}`) ?? '');
  const [source, comparison] = [textOf('source'), textOf('comparison')];
  const isNeeded = (name: string): boolean =>
    textOf(name) !== '' || problemAt(`${at}.${name}`) !== null;
  return (
    <>
      <Cell path={`${at}.source`} index={index} wordOf={wordOf} />
      {(PROPERTIES[source] !== undefined || isNeeded('property')) && (
        <Cell
          path={`${at}.property`}
          index={index}
          placeholder={PROPERTIES[source] ?? 'property'}
        />
      )}
      {(source === 'HEADERS' || isNeeded('regex')) && (
        <Cell
          path={`${at}.regex`}
          index={index}
          placeholder="pattern, optional, such as (?i)ok"
          onText={(text) => (text === '' ? null : text)}
        />
      )}
      <Cell path={`${at}.comparison`} index={index} wordOf={wordOf} />
      {(!WITHOUT_TARGET.has(comparison) || isNeeded('target')) && (
        <Cell
          path={`${at}.target`}
          index={index}
          placeholder={TARGETS_OF_COMPARISONS[comparison] ?? TARGETS[source] ?? 'target'}
          isWide={source === 'JSON_SCHEMA'}
        />
      )}
    </>
  );
}
