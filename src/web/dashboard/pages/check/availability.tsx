import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { Cells, cellLetter, cellsLabel } from '../../parts/cells.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { count, counted, percent } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import './check.css';
import { Panel } from './panel.tsx';

interface Counts {
  readonly runs: number;
  readonly failures: number;
}

const DAYS = 90;
const WINDOWS = [7, 30, 90] as const;

/** The share of passed runs of the last 24 hours, 7, 30 and 90 days. */
export function AvailabilityPanel({
  checkId,
  isHeartbeat = false,
}: {
  readonly checkId: string;
  /** A heartbeat has minutes by days instead of runs. */
  readonly isHeartbeat?: boolean;
}) {
  const query = useQuery(
    `availability ${checkId}`,
    (signal) =>
      bodyOf(
        api.GET('/v1/checks/{checkId}/availability', {
          params: { path: { checkId }, query: { days: DAYS } },
          signal,
        }),
      ),
    { on: ['check.status_changed'], concerns: ({ resourceId }) => resourceId === checkId },
  );
  const found = query.data.value;
  const error = query.error.value;
  if (found === null) {
    return (
      <Panel title="Availability">
        {error === null ? (
          <Skeleton lines={3} height={28} label="Loading the availability" />
        ) : (
          <ErrorState error={error} retry={query.reload} />
        )}
      </Panel>
    );
  }
  const { days, quarterHours } = found;
  const missed = new Map(days.map((day) => [day.date, day.missed]));
  const letters = quarterHours
    .map((quarter) => cellLetter({ ...quarter, degraded: quarter.degraded, missed: 0 }))
    .join('');
  const dayLetters = days
    .map((day) => cellLetter({ ...day, missed: missed.get(day.date) ?? 0 }))
    .join('');
  const all: readonly (readonly [string, readonly Counts[]])[] = [
    isHeartbeat ? ['Today', days.slice(-1)] : ['24 h', quarterHours],
    ...WINDOWS.map((number) => [`${number} days`, days.slice(-number)] as const),
  ];
  return (
    <Panel title="Availability">
      <dl class="check-windows">
        {all.map(([name, entries]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isHeartbeat ? shareOfMinutes(entries) : shareOf(entries)}</dd>
          </div>
        ))}
      </dl>
      <div class="check-strips">
        {!isHeartbeat && (
          <>
            <span class="muted">Last 24 h</span>
            <Cells letters={letters} label={cellsLabel(letters)} />
          </>
        )}
        <span class="muted">{DAYS} days</span>
        <Cells letters={dayLetters} label={daysLabel(dayLetters)} />
      </div>
    </Panel>
  );
}

function shareOf(entries: readonly Counts[]) {
  const runs = entries.reduce((sum, entry) => sum + entry.runs, 0);
  const failures = entries.reduce((sum, entry) => sum + entry.failures, 0);
  if (runs === 0) {
    return (
      <>
        <b>–</b> <span class="muted">no runs</span>
      </>
    );
  }
  return (
    <>
      <b>{percent(runs - failures, runs)}</b>{' '}
      <span class="muted">
        {failures === 0
          ? counted(runs, 'run')
          : `${count(failures)} of ${counted(runs, 'run')} failed`}
      </span>
    </>
  );
}

/** Minutes of a heartbeat in which its ping was not overdue. */
function shareOfMinutes(entries: readonly Counts[]) {
  const minutes = entries.reduce((sum, entry) => sum + entry.runs, 0);
  const late = entries.reduce((sum, entry) => sum + entry.failures, 0);
  if (minutes === 0) {
    return (
      <>
        <b>–</b> <span class="muted">no data yet</span>
      </>
    );
  }
  return (
    <>
      <b>{percent(minutes - late, minutes)}</b>{' '}
      <span class="muted">{late === 0 ? 'never late' : `${count(late)} min late`}</span>
    </>
  );
}

function daysLabel(letters: string): string {
  const failed = letters.split('f').length - 1;
  return failed === 0
    ? `Last ${letters.length} days: no failures`
    : `Last ${letters.length} days: failures on ${failed}`;
}
