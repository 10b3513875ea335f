import type { VNode } from 'preact';
import { DAY_MS } from '../../../../model/time-units.ts';
import { twoUnitText } from '../../../../runtime/text/duration-text.ts';
import { CONDITION_WORDS } from '../../../../web/status/conditions.tsx';
import { dayText, pluralText } from '../../../../web/status/texts.tsx';
import type { DayOnPage, ServiceHistory } from '../../state/daily-history.ts';

/** A bar and the gap after it, in units of the picture. */
const BAR = 7;
const STEP = 8;
const MIDDLE = 12;

type Days = Pick<ServiceHistory, 'days'>;

const dayMsOf = ({ day }: DayOnPage): number => Date.parse(`${day}T00:00:00Z`);

const timeText = (ms: number): string => (ms >= DAY_MS ? 'all day' : twoUnitText(ms));

/** Describes a day without its incidents and maintenance; empty if nothing happened. */
export function dayWords(day: DayOnPage): string {
  const { condition, failingMs, degradedMs, missedMs, failures, degraded, missed } = day;
  if (condition === 'UNKNOWN') return CONDITION_WORDS.UNKNOWN;
  const facts = [
    failures > 0 ? `failing ${timeText(failingMs)}` : '',
    degraded > 0 ? `degraded ${timeText(degradedMs)}` : '',
    missed > 0 ? `not measured ${timeText(missedMs)}` : '',
  ].filter((fact) => fact !== '');
  const isSaid = condition === 'OPERATIONAL' || (condition === 'DEGRADED' && degraded > 0);
  const words = [...(isSaid ? [] : [CONDITION_WORDS[condition]]), ...facts].join(', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Consecutive days with one bar, title and line. */
interface Stretch {
  readonly start: number;
  readonly days: readonly [DayOnPage, ...DayOnPage[]];
  /** `calm` where nothing happened, `unmeasured` where nothing is known. */
  readonly kind: 'calm' | 'unmeasured' | 'event';
}

/** Groups consecutive equal days into stretches; a day with an event is a stretch of its own. */
function stretchesOf(days: readonly DayOnPage[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const [start, day] of days.entries()) {
    const kind = kindOf(day);
    const last = stretches.at(-1);
    if (last !== undefined && last.kind === kind && kind !== 'event') {
      stretches[stretches.length - 1] = { ...last, days: [...last.days, day] };
    } else {
      stretches.push({ start, days: [day], kind });
    }
  }
  return stretches;
}

function kindOf(day: DayOnPage): Stretch['kind'] {
  if (day.incidents.length > 0 || day.maintenance.length > 0) return 'event';
  if (day.condition === 'UNKNOWN') return 'unmeasured';
  return dayWords(day) === '' ? 'calm' : 'event';
}

/** The stretches that readers should know about. A day that has just begun may have no run yet. */
function remarkableOf(days: readonly DayOnPage[]): readonly Stretch[] {
  return stretchesOf(days).filter(
    ({ start, kind }) => kind === 'event' || (kind === 'unmeasured' && start < days.length - 1),
  );
}

/** How many days there are of which kind; empty if nothing happened. */
function summaryOf(days: readonly DayOnPage[]): string {
  const remarkable = remarkableOf(days);
  const count = (kind: Stretch['kind']): number =>
    remarkable
      .filter((stretch) => stretch.kind === kind)
      .reduce((sum, stretch) => sum + stretch.days.length, 0);
  const [events, unmeasured] = [count('event'), count('unmeasured')];
  return [
    events > 0 ? `${pluralText(events, 'day', 'days')} with events` : '',
    unmeasured > 0 ? `${pluralText(unmeasured, 'day', 'days')} without data` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function titleOf({ days }: Stretch): string {
  const [first] = days;
  const last = days.at(-1) ?? first;
  const when = dayText(dayMsOf(first)) + (last === first ? '' : ` to ${dayText(dayMsOf(last))}`);
  const names = [...first.incidents.map(({ name }) => name), ...first.maintenance];
  return [`${when}: ${dayWords(first)}`, ...names].join('\n');
}

/** The class of a bar: a good day on which something happened stands out. */
function classOf({ days: [{ condition }], kind }: Stretch): string {
  return condition === 'OPERATIONAL' && kind === 'event' ? 'OPERATIONAL event' : condition;
}

/** One bar for each day. Bars are the dashes of a line, so that a stretch is one short element. */
export function DayBars({ days }: Days): VNode {
  const summary = summaryOf(days);
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${2 * MIDDLE}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The last ${days.length} days: ${summary === '' ? 'no problem' : summary}`}
    >
      {stretchesOf(days).map((stretch) => (
        <path
          key={stretch.start}
          class={classOf(stretch)}
          d={`M${stretch.start * STEP} ${MIDDLE}h${(stretch.days.length - 1) * STEP + BAR}`}
        >
          {stretch.kind !== 'calm' && <title>{titleOf(stretch)}</title>}
        </path>
      ))}
    </svg>
  );
}

/** The bars as text, for readers without a pointer. */
export function DayLog({
  days,
  incidentsPath,
}: Days & {
  readonly incidentsPath: string;
}): VNode | null {
  const remarkable = remarkableOf(days).toReversed();
  if (remarkable.length === 0) return null;
  return (
    <details>
      <summary>{summaryOf(days)}</summary>
      <ul class="log">
        {remarkable.map(({ start, days: [first, ...more] }) => (
          <li key={start}>
            <DayRange first={first} last={more.at(-1)} />
            <span>
              {dayWords(first)}
              {first.incidents.map(({ id, name }) => (
                <span key={id}>
                  {'. '}
                  <a href={`${incidentsPath}/${id}`} dir="auto">
                    {name}
                  </a>
                </span>
              ))}
              {first.maintenance.map((name) => (
                <span key={name}>
                  {'. Maintenance: '}
                  <bdi>{name}</bdi>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function DayRange({
  first,
  last,
}: {
  readonly first: DayOnPage;
  readonly last: DayOnPage | undefined;
}): VNode {
  const from = <time dateTime={first.day}>{dayText(dayMsOf(first))}</time>;
  if (last === undefined) return from;
  return (
    <span class="muted">
      {from} to <time dateTime={last.day}>{dayText(dayMsOf(last))}</time>
    </span>
  );
}
