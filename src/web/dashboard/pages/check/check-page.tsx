import type { Query } from '../../api/query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ChoicesError, ErrorState } from '../../parts/error-state.tsx';
import { duration, responseTime } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { AcknowledgedMark, QuietMarks } from '../../parts/states/quiet-marks.tsx';
import { type MarkedState, StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import { OpenAlert } from '../alerting/alerts/open-alert.tsx';
import { Recipients, WhyNoAlert } from '../alerting/alerts/recipients.tsx';
import { useRefresh } from '../locations/use-refresh.ts';
import type { PageProps } from '../page-props.ts';
import { CheckActions } from './actions.tsx';
import { AvailabilityPanel } from './availability.tsx';
import './check.css';
import { type Check, type CheckStatus, resultPath } from './model.ts';
import { useCheck, useExplanation, useRuns, useStatus } from './queries.ts';
import { ResponseTimes } from './response-times.tsx';
import { RunList } from './run-list.tsx';
import { FollowedRun, useRunNow } from './run-now.tsx';
import { WhatToTry } from './why.tsx';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const STATE_WORDS = { failing: 'Failing', degraded: 'Degraded', passing: 'Passing' } as const;

/** A check: its state, its availability, its times and its runs. */
export function Page({ params }: PageProps) {
  const { id = '' } = params;
  const query = useCheck(id);
  const check = query.data.value;
  const error = query.error.value;
  useTitle(check?.name ?? null);
  if (error?.status === 404) {
    return (
      <>
        <PageHeader title="Check" />
        <EmptyState title="There is no such check">
          It may have been deleted. <Link to="/">Go to the overview</Link>
        </EmptyState>
      </>
    );
  }
  if (check === null) {
    return (
      <>
        <PageHeader title="Check" />
        {error === null ? (
          <Skeleton lines={14} height={32} label="Loading the check" />
        ) : (
          <ErrorState error={error} retry={query.reload} />
        )}
      </>
    );
  }
  if (check.checkType === 'HEARTBEAT') {
    return (
      <>
        <PageHeader title={check.name} />
        <EmptyState title="This is a heartbeat">
          It has pings instead of runs.{' '}
          <Link to={`/heartbeats/${encodeURIComponent(id)}`}>Go to its page</Link>
        </EmptyState>
      </>
    );
  }
  return <CheckView check={check as Check} query={query} />;
}

function CheckView({
  check,
  query,
}: {
  readonly check: Check;
  readonly query: ReturnType<typeof useCheck>;
}) {
  const statusQuery = useStatus(check.id);
  // No event says that a maintenance window begins or ends.
  useRefresh(statusQuery, MINUTE_MS);
  const run = useRunNow(check.id);
  const known = statusQuery.data.value;
  const statusError = statusQuery.error.value;
  const status = known?.status ?? null;
  const state = stateOf(check, status);
  return (
    <>
      <nav class="check-crumbs" aria-label="Path">
        <Link to="/">Checks</Link> / {check.name}
      </nav>
      <PageHeader
        title={check.name}
        actions={<CheckActions check={check} query={query} onRun={run.start} />}
      >
        <StateMark
          state={state}
          word={
            known === null && state === 'unknown'
              ? statusError === null
                ? 'Loading'
                : 'Not known'
              : wordOf(check, status, state)
          }
        />
        <span class="chip">{check.checkType}</span>
        <QuietMarks
          muted={check.muted}
          mutedByGroup={status?.mutedByGroup ?? false}
          inMaintenance={status?.inMaintenance ?? false}
        />
        <AcknowledgedMark taken={status?.acknowledgement ?? null} />
        <span class="muted">
          {status?.since != null && (
            <>
              for <TimeText at={status.since} form="since" />
              {' · '}
            </>
          )}
          {status?.lastResponseTime != null && (
            <>
              {responseTime(status.lastResponseTime)} now
              {status.usualResponseTime !== null &&
                `, usually ${responseTime(status.usualResponseTime)}`}
              {' · '}
            </>
          )}
          {everyText(check)}
        </span>
      </PageHeader>
      <Target check={check} />
      <ChoicesError what="state of the check" error={statusError} retry={statusQuery.reload} />
      {run.runId !== null && <FollowedRun checkId={check.id} runId={run.runId} close={run.close} />}
      <OpenAlert checkId={check.id} />
      <WhyNoAlert checkId={check.id} />
      {(state === 'failing' || state === 'degraded') && (
        <LatestProblem check={check} state={state} />
      )}
      {status?.unknownReason === 'location_silent' && (
        <div class="check-why unknown">
          <p>
            No agent of its locations polls since <TimeText at={status.since ?? ''} form="full" />:
            nothing is known of the target.
          </p>
          <p>
            <b>What to try.</b> Look whether the agent is running and reaches this service.{' '}
          </p>
        </div>
      )}
      {(check.warnings ?? []).map(({ code, message }) => (
        <p class="check-warning" key={`${code} ${message}`}>
          {message}
        </p>
      ))}
      <AvailabilityPanel checkId={check.id} />
      <ResponseTimes check={check} />
      <RunList check={check} />
      <Recipients checkId={check.id} />
    </>
  );
}

function stateOf(check: Check, status: CheckStatus | null): MarkedState {
  if (!check.activated) return 'paused';
  return status?.state ?? 'unknown';
}

function wordOf(check: Check, status: CheckStatus | null, state: MarkedState): string {
  if (state === 'paused') return check.activated ? 'Paused by its group' : 'Paused';
  if (state !== 'unknown') return STATE_WORDS[state];
  return status?.unknownReason === 'location_silent' ? 'No agent' : 'No result yet';
}

function everyText({ frequency, frequencyOffset, privateLocations }: Check): string {
  const periodMs = frequency === 0 ? (frequencyOffset ?? 10) * SECOND_MS : frequency * MINUTE_MS;
  const every = `every ${duration(periodMs)}`;
  const locations = privateLocations ?? [];
  return locations.length === 0 ? every : `${every} from ${locations.join(', ')}`;
}

function Target({ check }: { readonly check: Check }) {
  return (
    <p class="check-target">
      <code>{targetOf(check)}</code>
      {check.tags.map((tag) => (
        <span class="chip" key={tag}>
          {tag}
        </span>
      ))}
      {check.description !== null && <span class="muted">{check.description}</span>}
    </p>
  );
}

function targetOf(check: Check): string {
  switch (check.checkType) {
    case 'URL':
      return check.request.url;
    case 'API':
      return `${check.request.method} ${check.request.url}`;
    case 'TCP':
      return `${check.request.hostname}:${check.request.port}`;
    case 'DNS':
      return `${check.request.recordType} ${check.request.query}`;
    case 'ICMP':
      return check.request.hostname;
  }
}

/** Why the check is in its state, from its latest run of that kind. */
function LatestProblem({
  check,
  state,
}: {
  readonly check: Check;
  readonly state: 'failing' | 'degraded';
}) {
  const query = useRuns(check.id, {
    result: state === 'failing' ? 'failed' : 'degraded',
    location: null,
    to: null,
    page: 1,
  });
  const run = query.data.value?.runs[0];
  if (run === undefined) return <NoReason query={query} />;
  return (
    <Problem checkId={check.id} resultId={run.resultId} slot={run.slot} location={run.location} />
  );
}

function NoReason({ query: { error, reload } }: { readonly query: Query<unknown> }) {
  return <ChoicesError what="reason of its state" error={error.value} retry={reload} />;
}

function Problem({
  checkId,
  resultId,
  slot,
  location,
}: {
  readonly checkId: string;
  readonly resultId: string;
  readonly slot: string;
  readonly location: string;
}) {
  const query = useExplanation(checkId, resultId);
  const explanation = query.data.value;
  if (explanation === null) return <NoReason query={query} />;
  return (
    <>
      <WhatToTry explanation={explanation} />
      <p class="check-evidence">
        <Link to={resultPath(checkId, resultId)}>Job log, trace and capture of this run</Link>{' '}
        <span class="muted">
          at {location}, <TimeText at={slot} />
        </span>
        {explanation.lastPassing !== null && (
          <>
            {' · '}
            <Link to={`${resultPath(checkId, resultId)}?compare=last-passing`}>
              Compare with the last passing run
            </Link>{' '}
            <span class="muted">
              (<TimeText at={explanation.lastPassing.slot} />)
            </span>
          </>
        )}
      </p>
    </>
  );
}
