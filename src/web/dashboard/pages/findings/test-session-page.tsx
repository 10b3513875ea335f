import { ErrorState } from '../../parts/error-state.tsx';
import { count, responseTime } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import type { PageProps } from '../page-props.ts';
import './findings.css';
import { type TestSession, useSessionResults, useTestSession } from './queries.ts';
import { Counts, sourceOf, Verdict } from './test-sessions-page.tsx';

/** One test session, with its results. */
export function Page({ params: { id = '' } }: PageProps) {
  const { data, error, reload } = useTestSession(id);
  const session = data.value;
  useTitle(session === null ? null : (session.name ?? 'Test session'));
  return (
    <>
      <p class="findings-back">
        <Link to="/test-sessions">Test sessions</Link>
      </p>
      <PageHeader title={session?.name ?? 'Test session'}>
        {session !== null && (
          <>
            <Verdict session={session} />
            <Counts counts={session.counts} />
          </>
        )}
      </PageHeader>
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {session === null && error.value === null && (
        <div class="panel">
          <Skeleton lines={6} height={37} label="Loading the session" />
        </div>
      )}
      {session !== null && <Session session={session} />}
    </>
  );
}

function Session({ session }: { readonly session: TestSession }) {
  const source = sourceOf(session);
  return (
    <>
      <p class="muted findings-source">
        Reported <TimeText at={session.created_at} form="full" />
        {source !== '' && `, ${source}`}
      </p>
      {session.counts.missed > 0 && <Missed session={session} />}
      {session.hasFailures && (
        <Results id={session.id} title="Runs that did not pass" hasFailures />
      )}
      <Results id={session.id} title="Runs without a failure" hasFailures={false} />
    </>
  );
}

type Missed = TestSession['missed'][number];

const MISSED: readonly Column<Missed>[] = [
  { name: 'check', head: 'Check', cell: ({ checkId }) => checkId },
  { name: 'reason', head: 'Reason', cell: ({ reason }) => reason.replaceAll('_', ' ') },
  { name: 'count', head: 'Runs', isNumber: true, cell: (missed) => count(missed.count) },
];

function Missed({ session }: { readonly session: TestSession }) {
  return (
    <section class="panel" aria-label="Checks that were not run">
      <div class="panel-head">
        <h2>Not run</h2>
      </div>
      <Table
        label="Checks that were not run"
        columns={MISSED}
        rows={session.missed}
        keyOf={(missed) => JSON.stringify(missed)}
      />
    </section>
  );
}

type Result = NonNullable<
  ReturnType<typeof useSessionResults>['query']['data']['value']
>['entries'][number];

function Results({
  id,
  title,
  hasFailures,
}: {
  readonly id: string;
  readonly title: string;
  readonly hasFailures: boolean;
}) {
  return (
    <ListPanel
      title={title}
      list={useSessionResults(id, hasFailures)}
      columns={RESULTS}
      keyOf={(result) => result.id}
      empty="There is none."
    />
  );
}

const RESULTS: readonly Column<Result>[] = [
  { name: 'verdict', head: 'Result', cell: (result) => <ResultMark result={result} /> },
  {
    name: 'check',
    head: 'Check',
    cell: ({ name, checkType }) => (
      <span>
        {name} <span class="chip">{checkType}</span>
      </span>
    ),
  },
  { name: 'why', head: 'Why', cell: (result) => reasonOf(result) ?? '' },
  {
    name: 'time',
    head: 'Response time',
    isNumber: true,
    cell: (result) => responseTime(result.responseTime),
  },
  { name: 'location', head: 'Where', isOptional: true, cell: ({ runLocation }) => runLocation },
  {
    name: 'started',
    head: 'Began',
    cell: ({ startedAt }) => <TimeText at={startedAt} form="clock" />,
  },
];

function ResultMark({ result }: { readonly result: Result }) {
  if (result.isCancelled) return <StateMark state="paused" word="Cancelled" />;
  if (result.hasErrors) return <StateMark state="unknown" word="No verdict" />;
  if (result.hasFailures) return <StateMark state="failing" word="Failed" />;
  if (result.isDegraded) return <StateMark state="degraded" word="Degraded" />;
  return <StateMark state="passing" word="Passed" />;
}

/** The error of the request, or the first assertion that was not met. */
function reasonOf(result: Result): string | null {
  const details = [
    result.apiCheckResult,
    result.tcpCheckResult,
    result.dnsCheckResult,
    result.icmpCheckResult,
  ] as readonly (Details | null | undefined)[];
  for (const detail of details) {
    const reason =
      detail?.requestError ?? detail?.assertions?.find(({ error }) => error !== null)?.error;
    if (reason !== undefined && reason !== null) return reason;
  }
  return null;
}

interface Details {
  readonly requestError?: string | null;
  readonly assertions?: readonly { readonly error: string | null }[];
}
