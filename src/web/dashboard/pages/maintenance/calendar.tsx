import { useEffect, useRef } from 'preact/hooks';
import { counted } from '../../parts/formats.ts';
import { dayOf, dayText, moved, type View } from './days.ts';
import type { Occurrence } from './occurrences.ts';

const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const LONG_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
/** The most windows to show for a day; further ones are only counted. */
const MAX_SHOWN = { month: 3, week: 20 } as const;

interface CalendarProps {
  readonly view: View;
  readonly days: readonly Date[];
  /** The day with the keyboard focus. */
  readonly selected: Date;
  readonly occurrences: readonly Occurrence[];
  readonly overlaps: ReadonlySet<Occurrence>;
  readonly onSelect: (day: Date) => void;
  readonly onOpen: (occurrence: Occurrence) => void;
  /** Called for Enter on a day; omitted for users without the role write. */
  readonly onMake?: (day: Date) => void;
}

/** Days in weeks (WAI-ARIA Authoring Practices, Grid): arrows move, Page Up and Down by months. */
export function Calendar(props: CalendarProps) {
  const { view, days, selected, occurrences, overlaps, onSelect, onOpen, onMake } = props;
  const grid = useRef<HTMLTableElement>(null);
  const keyboard = useRef({ isMoved: false as boolean });
  const today = dayText(new Date());
  useEffect(() => {
    if (!keyboard.current.isMoved) return;
    keyboard.current.isMoved = false;
    grid.current?.querySelector<HTMLElement>(`[data-day="${dayText(selected)}"]`)?.focus();
  }, [dayText(selected), view]);

  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys on a window open it.
    if (event.target !== event.currentTarget) return;
    const weekday = (selected.getDay() + 6) % 7;
    const to = {
      ArrowLeft: () => dayOf(selected, -1),
      ArrowRight: () => dayOf(selected, 1),
      ArrowUp: () => dayOf(selected, -7),
      ArrowDown: () => dayOf(selected, 7),
      Home: () => dayOf(selected, -weekday),
      End: () => dayOf(selected, 6 - weekday),
      PageUp: () => moved(view, selected, -1),
      PageDown: () => moved(view, selected, 1),
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      keyboard.current.isMoved = true;
      onSelect(to());
    } else if (event.key === 'Enter' && onMake !== undefined) {
      event.preventDefault();
      onMake(selected);
    }
  };
  const weeks = Array.from({ length: days.length / 7 }, (_, week) =>
    days.slice(week * 7, week * 7 + 7),
  );
  return (
    <table
      class={`maintenance-grid ${view}`}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid of days is a table, as in the ARIA practices
      role="grid"
      aria-label="Maintenance windows by day"
      ref={grid}
    >
      <thead>
        <tr>
          {days.slice(0, 7).map((day) => (
            <th scope="col" key={day.getDay()}>
              {WEEKDAY.format(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map(([monday, ...rest]) => (
          <tr key={dayText(monday as Date)}>
            {[monday as Date, ...rest].map((day) => {
              const of = occurrencesOn(occurrences, day);
              const text = dayText(day);
              return (
                <td
                  key={text}
                  // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid of days is a table, as in the ARIA practices
                  role="gridcell"
                  data-day={text}
                  tabIndex={text === dayText(selected) ? 0 : -1}
                  aria-selected={text === dayText(selected)}
                  aria-current={text === today ? 'date' : undefined}
                  class={[
                    text === today ? 'today' : '',
                    view === 'month' && day.getMonth() !== selected.getMonth() ? 'other' : '',
                  ].join(' ')}
                  onKeyDown={onKeyDown}
                  onClick={() => onSelect(day)}
                >
                  <span class="visually-hidden">
                    {LONG_DAY.format(day)}: {counted(of.length, 'window')}
                  </span>
                  <span class="maintenance-day" aria-hidden="true">
                    {day.getDate()}
                  </span>
                  {of.slice(0, MAX_SHOWN[view]).map((occurrence) => (
                    <Entry
                      key={`${occurrence.window.id} ${occurrence.fromMs}`}
                      occurrence={occurrence}
                      day={day}
                      isOverlap={overlaps.has(occurrence)}
                      onOpen={onOpen}
                    />
                  ))}
                  {of.length > MAX_SHOWN[view] && (
                    <span class="muted maintenance-more">
                      and {of.length - MAX_SHOWN[view]} more
                    </span>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function occurrencesOn(
  occurrences: readonly Occurrence[],
  day: Date,
): readonly Occurrence[] {
  const [fromMs, toMs] = [day.getTime(), dayOf(day, 1).getTime()];
  return occurrences.filter((one) => one.fromMs < toMs && one.toMs > fromMs);
}

function Entry({
  occurrence,
  day,
  isOverlap,
  onOpen,
}: {
  readonly occurrence: Occurrence;
  readonly day: Date;
  readonly isOverlap: boolean;
  readonly onOpen: (occurrence: Occurrence) => void;
}) {
  const { window, fromMs } = occurrence;
  const begins = fromMs >= day.getTime();
  return (
    <button
      type="button"
      class={`maintenance-entry${isOverlap ? ' overlap' : ''}`}
      onClick={(event) => {
        event.stopPropagation();
        onOpen(occurrence);
      }}
    >
      <span class="muted">{begins ? CLOCK.format(fromMs) : '…'}</span> {window.name}
      {isOverlap && <span class="visually-hidden"> (overlaps another window)</span>}
    </button>
  );
}

/** The windows as a list, for narrow screens and screen readers. */
export function OccurrenceList({
  occurrences,
  overlaps,
  onOpen,
}: Pick<CalendarProps, 'occurrences' | 'overlaps' | 'onOpen'>) {
  const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  if (occurrences.length === 0) {
    return <p class="panel-body muted">No window in this period.</p>;
  }
  return (
    <ul class="maintenance-list" aria-label="Windows in this period">
      {occurrences.map((occurrence) => (
        <li key={`${occurrence.window.id} ${occurrence.fromMs}`}>
          <button type="button" class="button plain" onClick={() => onOpen(occurrence)}>
            {occurrence.window.name}
          </button>
          <span class="muted">
            {date.formatRange(new Date(occurrence.fromMs), new Date(occurrence.toMs))}
          </span>
          {overlaps.has(occurrence) && <span class="chip">overlaps</span>}
        </li>
      ))}
    </ul>
  );
}
