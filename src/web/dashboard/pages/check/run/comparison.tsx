import type { ComponentChildren } from 'preact';
import { ErrorState } from '../../../parts/error-state.tsx';
import { responseTime } from '../../../parts/formats.ts';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import { Link } from '../../../shell/link.tsx';
import {
  detailOf,
  PHASE_LABELS,
  phasesOf,
  RESULT_STATES,
  RESULT_WORDS,
  type Result,
  resultPath,
  runResultOf,
  tlsOf,
} from '../model.ts';
import { Panel } from '../panel.tsx';
import { useResult } from '../queries.ts';
import { type ComparedLine, comparedLines } from './text-difference.ts';

interface Row {
  readonly name: string;
  readonly one: ComponentChildren;
  readonly other: ComponentChildren;
  readonly differs: boolean;
}

/** Times that differ by less are about the same. */
const SAME_FACTOR = 1.5;
const SAME_MS = 10;

/** Two results side by side, with what differs marked. */
export function Comparison({
  result,
  otherId,
}: {
  readonly result: Result;
  readonly otherId: string;
}) {
  const query = useResult(result.checkId, otherId);
  const other = query.data.value;
  const error = query.error.value;
  if (other === null) {
    return error === null ? (
      <Skeleton lines={12} height={28} label="Loading the last passing run" />
    ) : (
      <ErrorState error={error} retry={query.reload} />
    );
  }
  const bodies = comparedLines(textOf(result), textOf(other));
  return (
    <>
      <Panel title="This run compared with the last passing run">
        <CompareTable
          head={[headOf(result, 'This run'), headOf(other, 'Last passing run')]}
          groups={[
            ['Facts', factRows(result, other)],
            ['Time', timeRows(result, other)],
            ['Headers of the response', headerRows(result, other)],
            ['TLS', tlsRows(result, other)],
          ]}
        />
      </Panel>
      <Panel title="What the target sent">
        {bodies === null ? (
          <p class="muted">
            {textOf(result) === '' ? 'Neither run has a text.' : 'The texts are the same.'}
          </p>
        ) : (
          <div class="check-texts">
            <Lines label="This run" lines={bodies.one} />
            <Lines label="Last passing run" lines={bodies.other} />
          </div>
        )}
      </Panel>
    </>
  );
}

function headOf(result: Result, label: string): ComponentChildren {
  const ended = runResultOf(result);
  return (
    <>
      <Link to={resultPath(result.checkId, result.id)}>{label}</Link>{' '}
      <StateMark state={RESULT_STATES[ended]} word={RESULT_WORDS[ended]} />{' '}
      <TimeText at={result.checkRunId} form="full" />
    </>
  );
}

function CompareTable({
  head,
  groups,
}: {
  readonly head: readonly [ComponentChildren, ComponentChildren];
  readonly groups: readonly (readonly [string, readonly Row[]])[];
}) {
  return (
    <table class="check-compare">
      <thead>
        <tr>
          <td />
          <th scope="col">{head[0]}</th>
          <th scope="col">{head[1]}</th>
        </tr>
      </thead>
      {groups
        .filter(([, rows]) => rows.length > 0)
        .map(([title, rows]) => (
          <tbody key={title}>
            <tr>
              <th scope="rowgroup" colSpan={3} class="group">
                {title}
              </th>
            </tr>
            {rows.map(({ name, one, other, differs }) => (
              <tr key={name} class={differs ? 'differs' : undefined}>
                <th scope="row">
                  {name}
                  {differs && <span class="mark"> differs</span>}
                </th>
                <td data-head="This run">{one}</td>
                <td data-head="Last passing">{other}</td>
              </tr>
            ))}
          </tbody>
        ))}
    </table>
  );
}

function textRow(name: string, one: string | null, other: string | null): Row | null {
  if (one === null && other === null) return null;
  return { name, one: one ?? '–', other: other ?? '–', differs: one !== other };
}

function present(rows: readonly (Row | null)[]): readonly Row[] {
  return rows.filter((row) => row !== null);
}

function factRows(one: Result, other: Result): readonly Row[] {
  const of = (name: string, value: (result: Result) => string | null): Row | null =>
    textRow(name, value(one), value(other));
  return present([
    of('Error', (result) => {
      const detail = detailOf(result);
      if (detail === null || detail.requestError === null) return null;
      return `${detail.requestErrorCode ?? 'ERROR'}: ${detail.requestError}`;
    }),
    of('Location', ({ runLocation }) => runLocation),
    of('Status', ({ apiCheckResult }) => {
      const response = apiCheckResult?.response;
      return response ? `${response.status} ${response.statusText}` : null;
    }),
    of('Response code', ({ dnsCheckResult }) => dnsCheckResult?.response?.responseCode ?? null),
    of(
      'Resolved to',
      ({ apiCheckResult, tcpCheckResult, icmpCheckResult }) =>
        apiCheckResult?.response?.ip ??
        tcpCheckResult?.response?.address ??
        icmpCheckResult?.response?.resolvedIp ??
        null,
    ),
    of('Final address', ({ apiCheckResult }) => apiCheckResult?.response?.url ?? null),
    of('Protocol', ({ apiCheckResult }) => {
      const response = apiCheckResult?.response;
      return response ? `HTTP/${response.httpVersion}` : null;
    }),
    of('Redirects', ({ apiCheckResult }) => {
      const redirects = apiCheckResult?.response?.redirects;
      return redirects === undefined ? null : String(redirects.length);
    }),
    of('Packet loss', ({ icmpCheckResult }) => {
      const loss = icmpCheckResult?.response?.packetLoss;
      return loss === undefined ? null : `${loss} %`;
    }),
    ...assertionRows(one, other),
  ]);
}

function assertionRows(one: Result, other: Result): readonly (Row | null)[] {
  const others = detailOf(other)?.assertions ?? [];
  return (detailOf(one)?.assertions ?? []).map((assertion, index) => {
    const { source, property, comparison, target, actual, error } = assertion;
    const same = others.find(
      (each) =>
        each.source === source && each.property === property && each.comparison === comparison,
    );
    return {
      name: `Assertion ${index + 1}: ${source}${property === '' ? '' : ` ${property}`} ${comparison} ${target}`,
      one: actual ?? '–',
      other: same?.actual ?? '–',
      differs: error !== (same?.error ?? null),
    };
  });
}

function timeRows(one: Result, other: Result): readonly Row[] {
  const phases = (result: Result): Readonly<Record<string, number>> =>
    Object.fromEntries([
      ...phasesOf(result).map(({ name, ms }) => [name, ms]),
      ['total', result.responseTime],
    ]);
  const [first, second] = [phases(one), phases(other)];
  return [...Object.entries(PHASE_LABELS), ['total', 'Total'] as const].flatMap(([name, label]) => {
    const [ms, otherMs] = [first[name], second[name]];
    if (ms === undefined && otherMs === undefined) return [];
    return [
      {
        name: label,
        one: responseTime(ms),
        other: responseTime(otherMs),
        differs: !isAlike(ms, otherMs),
      },
    ];
  });
}

function isAlike(one: number | undefined, other: number | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [less, more] = one < other ? [one, other] : [other, one];
  return more - less < SAME_MS || more < less * SAME_FACTOR;
}

/** Headers that differ in most responses. */
const ALWAYS_DIFFERENT: ReadonlySet<string> = new Set([
  'date',
  'age',
  'expires',
  'etag',
  'x-request-id',
]);

function headerRows(one: Result, other: Result): readonly Row[] {
  const headersOf = ({ apiCheckResult }: Result): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(apiCheckResult?.response?.headers ?? {}).map(([name, value]) => [
        name,
        [value].flat().join('\n'),
      ]),
    );
  const [first, second] = [headersOf(one), headersOf(other)];
  if (Object.keys(first).length === 0) return [];
  return [...new Set([...Object.keys(first), ...Object.keys(second)])]
    .filter((name) => first[name] !== second[name] && !ALWAYS_DIFFERENT.has(name))
    .flatMap((name) => textRow(name, first[name] ?? null, second[name] ?? null) ?? []);
}

function tlsRows(one: Result, other: Result): readonly Row[] {
  const [first, second] = [tlsOf(one), tlsOf(other)];
  if (first === null && second === null) return [];
  const of = (name: string, value: (tls: NonNullable<typeof first>) => string | null): Row | null =>
    textRow(name, first && value(first), second && value(second));
  return present([
    of('Verified', ({ authorized }) => (authorized ? 'yes' : 'no')),
    of('Version', ({ protocol }) => protocol),
    of('Certificate', ({ certificate }) => certificate?.subject ?? null),
    of('Valid until', ({ certificate }) => certificate?.validTo.slice(0, 10) ?? null),
  ]);
}

function textOf({ apiCheckResult, tcpCheckResult, dnsCheckResult }: Result): string {
  return (
    apiCheckResult?.response?.body ??
    tcpCheckResult?.response?.data ??
    dnsCheckResult?.response?.text ??
    ''
  );
}

function Lines({
  label,
  lines,
}: {
  readonly label: string;
  readonly lines: readonly ComparedLine[];
}) {
  return (
    <div>
      <h3>{label}</h3>
      {lines.length === 1 && lines[0]?.text === '' ? (
        <p class="muted">Nothing was received.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
        <pre class="check-text" tabIndex={0}>
          {lines.map(({ text, isShared }, index) =>
            isShared ? (
              <span key={index}>{`${text}\n`}</span>
            ) : (
              <mark key={index}>{`${text}\n`}</mark>
            ),
          )}
        </pre>
      )}
    </div>
  );
}
