import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { counted, responseTime, totalText } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { nowMs, TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import {
  type Attempt,
  type Check,
  RESULT_STATES,
  RESULT_WORDS,
  type Run,
  type RunResult,
  resultPath,
} from './model.ts';
import { Panel } from './panel.tsx';
import { RUNS_PER_PAGE, useRuns } from './queries.ts';
import { Reason } from './why.tsx';

const RESULTS = Object.keys(RESULT_WORDS) as RunResult[];

/** The runs of a check, newest first, with their retries folded. */
export function RunList({ check }: { readonly check: Check }) {
  const state = useUrlState();
  const result = RESULTS.find((each) => each === state.get('result')) ?? null;
  const location = state.get('location');
  const to = numberIn(state.get('to'));
  const page = Math.max(1, numberIn(state.get('page')) ?? 1);
  const query = useRuns(check.id, { result, location, to, page });
  const found = query.data.value;
  const error = query.error.value;
  const isLatest = to === null && page === 1;
  // Runs that change no state have no events.
  useEffect(() => {
    if (isLatest && found !== null) query.reload();
  }, [nowMs.value]);
  const locations = [
    ...new Set([
      ...(check.privateLocations ?? []),
      ...(found?.runs ?? []).map((run) => run.location),
    ]),
  ];
  const isFiltered = result !== null || location !== null || !isLatest;
  const older = (): void =>
    state.set({ to: String(to ?? Date.now()), page: String(page + 1) }, { isStep: true });
  return (
    <Panel
      title="Runs"
      aside={
        <span class="muted">
          {found?.total != null &&
            (found.isAtLeast
              ? `${totalText(found.total, true)} runs`
              : counted(found.total, 'run'))}
        </span>
      }
    >
      <FilterBar
        filters={[
          {
            name: 'result',
            label: 'Result',
            choices: RESULTS.map((value) => ({ value, label: RESULT_WORDS[value] })),
          },
          {
            name: 'location',
            label: 'Location',
            choices: locations.map((value) => ({ value, label: value })),
          },
        ]}
      />
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {found === null && error === null && (
        <Skeleton lines={8} height={36} label="Loading the runs" />
      )}
      {found !== null && found.runs.length === 0 && (
        <EmptyState title={isFiltered ? 'No run matches' : 'This check has not run yet'}>
          {isFiltered
            ? 'Change or clear the filters.'
            : 'Its first run appears here by itself. If none appears, check whether an agent of its location is connected.'}
        </EmptyState>
      )}
      {found !== null && found.runs.length > 0 && (
        <table class="table check-runs" aria-label="Runs">
          <thead>
            <tr>
              <th scope="col">Result</th>
              <th scope="col">Slot</th>
              <th scope="col">Location</th>
              <th scope="col">Response</th>
              <th scope="col" class="num">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {found.runs.map((run) => (
              <Row key={run.resultId} checkId={check.id} run={run} />
            ))}
          </tbody>
        </table>
      )}
      <div class="pager">
        <span>
          {!isLatest && (
            <Button onClick={() => state.set({ to: null, page: null }, { isStep: true })}>
              Latest runs
            </Button>
          )}
        </span>
        {found !== null && found.runs.length === RUNS_PER_PAGE && (
          <Button onClick={older}>Older runs</Button>
        )}
      </div>
    </Panel>
  );
}

function numberIn(text: string | null): number | null {
  const value = Number(text ?? '');
  return text !== null && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function Row({ checkId, run }: { readonly checkId: string; readonly run: Run }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Line checkId={checkId} attempt={run} slot={run.slot}>
        {run.retried.length > 0 && (
          <button
            type="button"
            class="button small"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {counted(run.retried.length, 'earlier attempt')}
          </button>
        )}
      </Line>
      {isOpen &&
        run.retried.map((attempt) => (
          <Line key={attempt.resultId} checkId={checkId} attempt={attempt} slot={null} />
        ))}
    </>
  );
}

function Line({
  checkId,
  attempt,
  slot,
  children,
}: {
  readonly checkId: string;
  readonly attempt: Attempt;
  /** Null for an earlier attempt, which is shown below its run. */
  readonly slot: string | null;
  readonly children?: preact.ComponentChildren;
}) {
  const {
    resultId,
    result,
    number,
    location,
    response,
    reason,
    errorCode,
    responseTime: ms,
  } = attempt;
  return (
    <tr class={slot === null ? 'attempt' : undefined}>
      <td>
        <StateMark state={RESULT_STATES[result]} word={RESULT_WORDS[result]} />
      </td>
      <td data-head="Slot">
        <Link to={resultPath(checkId, resultId)}>
          {slot === null ? `Attempt ${number}` : <TimeText at={slot} form="full" />}
        </Link>
      </td>
      <td data-head="Location">{location}</td>
      <td data-head="Response">
        <span>
          {reason === null ? (response ?? '') : <Reason text={reason} code={errorCode} />}{' '}
          {children}
        </span>
      </td>
      <td data-head="Time" class="num">
        {responseTime(ms)}
      </td>
    </tr>
  );
}
