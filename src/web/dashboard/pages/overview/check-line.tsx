import { Cells, cellsLabel } from '../../parts/cells.tsx';
import { responseTime } from '../../parts/formats.ts';
import { Acknowledger, QuietMarks } from '../../parts/states/quiet-marks.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { TYPE_LABELS } from './check-filter.ts';
import type { CheckRow } from './check-rows.ts';
import { whyOf, wordOf } from './state-texts.ts';

interface CheckLineProps {
  /** Null while it is being read. */
  readonly row: CheckRow | null;
  readonly height: number;
  /** Null if checks cannot be selected. */
  readonly isSelected: boolean | null;
  readonly onSelect: (id: string, isRange: boolean) => void;
}

/** One check of the list. */
export function CheckLine({ row, height, isSelected, onSelect }: CheckLineProps) {
  if (row === null) {
    return (
      <li class="overview-row" style={{ height: `${height}px` }}>
        <span class="overview-placeholder" aria-label="Loading" role="img" />
      </li>
    );
  }
  const why = whyOf(row);
  const locations = locationsOf(row);
  const { acknowledgement } = row;
  const classes = [
    'overview-row',
    ...(why === null ? [] : ['broken']),
    ...(acknowledgement === null ? [] : ['taken']),
    ...(isSelected === true ? ['selected'] : []),
  ];
  return (
    <li class={classes.join(' ')} style={{ height: `${height}px` }}>
      {isSelected !== null && (
        <label class="overview-select">
          <span class="visually-hidden">Select {row.name}</span>
          <input
            type="checkbox"
            checked={isSelected}
            onClick={(event) => onSelect(row.checkId, event.shiftKey)}
          />
        </label>
      )}
      <div class="overview-state">
        <StateMark state={row.state} word={wordOf(row)} />
      </div>
      <div class="overview-check">
        <div class="overview-name">
          <Link to={pathOf(row)} title={row.name}>
            {row.name}
          </Link>
          <span class="chip">{TYPE_LABELS[row.checkType] ?? row.checkType}</span>
          <QuietMarks {...row} />
          {acknowledgement !== null && why === null && (
            <span class="chip" title={`Acknowledged by ${acknowledgement.by.name}`}>
              acknowledged
            </span>
          )}
        </div>
        {why !== null && (
          <div class="overview-why muted" title={why.text}>
            {locations.length > 0 && <span class="overview-where">{locations[0]} · </span>}
            <code class={row.state}>{why.code}</code> {why.text}
          </div>
        )}
        {acknowledgement !== null && why !== null && (
          <div class="overview-taken" title={`Acknowledged by ${acknowledgement.by.name}`}>
            Acknowledged by <Acknowledger {...acknowledgement} />
          </div>
        )}
      </div>
      <div class="overview-since nowrap">
        {row.since === null ? (
          <span class="faint">–</span>
        ) : (
          <span class={why === null ? 'muted' : ''}>
            <span class="overview-label">for </span>
            <TimeText at={row.since} form="since" />
          </span>
        )}
      </div>
      <div class="overview-from muted ellipsis" title={locations.join(', ') || undefined}>
        {locations.join(', ') || '–'}
      </div>
      <div class="overview-cells">
        {row.letters !== '' && <Cells letters={row.letters} label={cellsLabel(row.letters)} />}
      </div>
      <div class="overview-now num">
        {row.state !== 'paused' && row.lastResponseTime !== null && (
          <span class="overview-label">now </span>
        )}
        {nowText(row)}
      </div>
      <div class="overview-usual num muted">
        <span class="overview-label">usually </span>
        {responseTime(row.usualResponseTime)}
      </div>
    </li>
  );
}

function pathOf({ checkId, checkType }: CheckRow): string {
  const group = checkType === 'HEARTBEAT' ? 'heartbeats' : 'checks';
  return `/${group}/${encodeURIComponent(checkId)}`;
}

/** The location of the last error or run comes first. */
function locationsOf({
  state,
  lastError,
  lastRunLocation,
  locations,
}: CheckRow): readonly string[] {
  const first = (state === 'failing' ? lastError?.location : lastRunLocation) ?? '';
  return first === '' ? locations : [first, ...locations.filter((each) => each !== first)];
}

function nowText({ state, lastResponseTime, lastError }: CheckRow): string {
  const hasNoAnswer = state === 'failing' && lastError?.code !== null && lastError !== null;
  if (hasNoAnswer && lastResponseTime === null) return 'no answer';
  return state === 'paused' ? '–' : responseTime(lastResponseTime);
}
