import type { ComponentChildren } from 'preact';
import { Button } from '../../../parts/button.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { responseTime } from '../../../parts/formats.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import { Link } from '../../../shell/link.tsx';
import { useTitle } from '../../../shell/title.ts';
import { useUrlState } from '../../../shell/url-state.ts';
import type { PageProps } from '../../page-props.ts';
import { CheckActions } from '../actions.tsx';
import { Assertions } from './assertions.tsx';
import '../check.css';
import {
  type AnyCheck,
  type Check,
  checkPath,
  detailOf,
  type Explanation,
  phasesOf,
  RESULT_STATES,
  RESULT_WORDS,
  type Result,
  resultPath,
  runResultOf,
  tlsOf,
} from '../model.ts';
import { Facts, Panel } from '../panel.tsx';
import { useCheck, useExplanation, useReport, useResult } from '../queries.ts';
import { FollowedRun, useRunNow } from '../run-now.tsx';
import { WhatToTry } from '../why.tsx';
import { Comparison } from './comparison.tsx';
import { ArtifactList, JobLog, TraceTable } from './evidence.tsx';
import { Exchange, TlsPanel } from './exchange.tsx';
import { factsOf } from './run-facts.tsx';
import { Waterfall } from './waterfall.tsx';

/** In the address: compares the run with the last that passed. */
export const COMPARE = 'last-passing';

/** One result of a check: what happened, why, and what to try. */
export function Page({ params }: PageProps) {
  const { id: checkId = '', resultId = '' } = params;
  const checkQuery = useCheck(checkId);
  const resultQuery = useResult(checkId, resultId);
  const explanationQuery = useExplanation(checkId, resultId);
  const run = useRunNow(checkId);
  const state = useUrlState();
  const check = checkQuery.data.value;
  const result = resultQuery.data.value;
  const explanation = explanationQuery.data.value;
  const error = resultQuery.error.value ?? explanationQuery.error.value;
  const retry = (): void => {
    void resultQuery.reload();
    void explanationQuery.reload();
  };
  useTitle(result === null ? null : `Run of ${result.name}`);
  if (error?.status === 404) {
    return (
      <>
        <PageHeader title="Run" />
        <EmptyState title="There is no such run">
          Results are deleted when their retention ends.{' '}
          <Link to={checkPath(checkId)}>Go to the check</Link>
        </EmptyState>
      </>
    );
  }
  if (result === null) {
    return (
      <>
        <PageHeader title="Run" />
        {error === null ? (
          <Skeleton lines={14} height={32} label="Loading the run" />
        ) : (
          <ErrorState error={error} retry={retry} />
        )}
      </>
    );
  }
  const isCompared = state.get('compare') === COMPARE;
  const lastPassing = explanation?.lastPassing ?? null;
  return (
    <>
      <nav class="check-crumbs" aria-label="Path">
        <Link to="/">Checks</Link> /{' '}
        <Link to={checkPath(checkId)}>{check?.name ?? result.name}</Link> / Run of{' '}
        <TimeText at={result.checkRunId} form="full" />
      </nav>
      <Header result={result} check={check} onRun={run.start} query={checkQuery}>
        {lastPassing !== null && runResultOf(result) !== 'passed' && (
          <Button
            aria-pressed={isCompared}
            onClick={() => state.set({ compare: isCompared ? null : COMPARE }, { isStep: true })}
          >
            {isCompared ? 'End the comparison' : 'Compare with the last passing run'}
          </Button>
        )}
      </Header>
      {run.runId !== null && <FollowedRun checkId={checkId} runId={run.runId} close={run.close} />}
      {error !== null && <ErrorState error={error} retry={retry} />}
      {explanation !== null && <WhatToTry explanation={explanation} />}
      {isCompared && lastPassing !== null ? (
        <Comparison result={result} otherId={lastPassing.resultId} />
      ) : (
        <Details result={result} explanation={explanation} />
      )}
    </>
  );
}

function Header({
  result,
  check,
  query,
  onRun,
  children,
}: {
  readonly result: Result;
  readonly check: AnyCheck | null;
  readonly query: ReturnType<typeof useCheck>;
  readonly onRun: (location: string | null) => void;
  readonly children: ComponentChildren;
}) {
  const ended = runResultOf(result);
  return (
    <PageHeader
      title={result.name}
      actions={
        <>
          {children}
          {check !== null && check.checkType !== 'HEARTBEAT' && (
            <CheckActions check={check as Check} query={query} onRun={onRun} />
          )}
        </>
      }
    >
      <StateMark state={RESULT_STATES[ended]} word={RESULT_WORDS[ended]} />
      <span class="chip">{result.checkType}</span>
      <span class="muted">
        {responseTime(result.responseTime)} · from {result.runLocation} ·{' '}
        {result.resultType === 'FINAL' && result.attempts === 0
          ? 'first attempt'
          : `attempt ${result.attempts + 1}${result.resultType === 'FINAL' ? ', the last' : ', retried'}`}{' '}
        · <TimeText at={result.startedAt} />
      </span>
    </PageHeader>
  );
}

const USUAL_HOURS = 24;
const USUAL_METRICS = {
  URL: ['wait', 'dns', 'tcp', 'firstByte', 'download', 'responseTime'],
  API: ['wait', 'dns', 'tcp', 'firstByte', 'download', 'responseTime'],
  TCP: ['dns', 'connection', 'data', 'responseTime'],
  DNS: ['responseTime'],
  ICMP: ['latencyAvg'],
} as const;

function Details({
  result,
  explanation,
}: {
  readonly result: Result;
  readonly explanation: Explanation | null;
}) {
  const detail = detailOf(result);
  const usual = useUsual(result);
  const tls = tlsOf(result);
  return (
    <div class="check-grid">
      <div>
        <Panel
          title="Where the time went"
          aside={<span class="muted">usual: median of the last 24 h</span>}
        >
          <Waterfall
            phases={phasesOf(result)}
            totalMs={result.responseTime}
            usual={usual}
            uncertaintyMs={detail?.timing?.uncertaintyMs ?? 0}
            redirects={result.apiCheckResult?.response?.redirects.length ?? 0}
          />
        </Panel>
        {detail !== null && detail.assertions.length > 0 && (
          <Panel title="Assertions">
            <Assertions assertions={detail.assertions} />
          </Panel>
        )}
        <Panel title="Job log">
          <JobLog entries={detail?.jobLog ?? []} />
        </Panel>
        {detail !== null && detail.traceroute !== null && (
          <Panel title="Trace">
            <TraceTable trace={detail.traceroute} />
          </Panel>
        )}
        <Exchange result={result} />
      </div>
      <aside aria-label="Facts of the run">
        <Panel title="This run">
          <Facts facts={factsOf(result)} />
        </Panel>
        <Panel title="Capture and files">
          <ArtifactList result={result} />
        </Panel>
        {tls !== null && <TlsPanel tls={tls} />}
        {explanation !== null && <Around result={result} explanation={explanation} />}
      </aside>
    </div>
  );
}

/** The median of each phase. */
function useUsual(result: Result): Readonly<Record<string, number | null>> {
  const { checkType, checkId } = result;
  const query = useReport(checkId, checkType, {
    metrics: USUAL_METRICS[checkType].map((metric) => `${metric}_median`),
    hours: USUAL_HOURS,
    intervalMinutes: null,
    onlyPassed: true,
  });
  const values = query.data.value?.[0]?.points[0]?.values ?? {};
  const usual: Record<string, number | null> = {};
  for (const [name, value] of Object.entries(values)) {
    const metric = name.replace(/_median$/, '');
    usual[metric === 'responseTime' ? 'total' : metric] = value;
  }
  if (checkType === 'DNS') usual.query = usual.total ?? null;
  return usual;
}

/** The other attempts of the run, and the run that passed before. */
function Around({
  result,
  explanation,
}: {
  readonly result: Result;
  readonly explanation: Explanation;
}) {
  const { attempts, lastPassing } = explanation;
  return (
    <Panel title="Around this run">
      {attempts.length > 1 && (
        <>
          <h3>Attempts of this run</h3>
          <ul class="check-attempts">
            {attempts.map(({ resultId, number, result: ended, responseTime: ms }) => (
              <li key={resultId}>
                <StateMark state={RESULT_STATES[ended]} word={RESULT_WORDS[ended]} />{' '}
                {resultId === result.id ? (
                  <b>Attempt {number}, this one</b>
                ) : (
                  <Link to={resultPath(result.checkId, resultId)}>Attempt {number}</Link>
                )}{' '}
                <span class="muted">{responseTime(ms)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {lastPassing === null ? (
        <p class="muted">No passing run before it is stored.</p>
      ) : (
        <p class="check-around">
          The last run before it that passed was{' '}
          <Link to={resultPath(result.checkId, lastPassing.resultId)}>
            <TimeText at={lastPassing.slot} />
          </Link>
          , in {responseTime(lastPassing.responseTime)}.
        </p>
      )}
    </Panel>
  );
}
