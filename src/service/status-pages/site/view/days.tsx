import type { VNode } from 'preact';
import { CONDITION_WORDS, type Condition } from '../../../../web/status/conditions.tsx';
import { countText, dayText, pluralText } from '../../../../web/status/texts.tsx';
import type { DayOnPage, ServiceHistory } from '../../state/history.ts';

/** A bar and the gap after it, in units of the picture. */
const BAR = 7;
const STEP = 8;
const MIDDLE = 12;

type Unit = ServiceHistory['unit'];

const dayMsOf = ({ day }: DayOnPage): number => Date.parse(`${day}T00:00:00Z`);

/** Whether something happened that readers may want to know of. */
export function isRemarkable(day: DayOnPage): boolean {
  const { condition, failures, incidents, maintenance } = day;
  const isCalm = condition === 'OPERATIONAL' || condition === 'UNKNOWN';
  return !isCalm || failures > 0 || incidents.length > 0 || maintenance.length > 0;
}

/** What happened on a day, without its incidents. */
export function dayWords(
  { condition, runs, failures, degraded, missed }: DayOnPage,
  unit: Unit,
): string {
  const of = `${countText(failures)} of ${pluralText(runs, unit, `${unit}s`)}`;
  const failed = unit === 'run' ? `${of} failed` : `no ping in time for ${of}`;
  const facts = [
    failures > 0 ? failed : '',
    degraded > 0 ? `${pluralText(degraded, 'run was', 'runs were')} slow` : '',
    missed > 0 ? `${pluralText(missed, 'run', 'runs')} did not take place` : '',
  ].filter((fact) => fact !== '');
  return [CONDITION_WORDS[condition], ...facts].join(', ');
}

function titleOf(day: DayOnPage, unit: Unit): string {
  const names = [...day.incidents.map(({ name }) => name), ...day.maintenance];
  return [`${dayText(dayMsOf(day))}: ${dayWords(day, unit)}`, ...names].join('\n');
}

interface Stretch {
  readonly start: number;
  readonly days: readonly DayOnPage[];
  readonly condition: Condition;
}

/** Equal days that follow each other are one stretch; a remarkable day is one of its own. */
function stretchesOf(days: readonly DayOnPage[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const [index, day] of days.entries()) {
    const last = stretches.at(-1);
    const joins =
      last?.condition === day.condition &&
      !isRemarkable(day) &&
      last.days.every((each) => !isRemarkable(each));
    if (joins) stretches[stretches.length - 1] = { ...last, days: [...last.days, day] };
    else stretches.push({ start: index, days: [day], condition: day.condition });
  }
  return stretches;
}

/** One bar for each day. Bars are the dashes of a line, so that a stretch is one short element. */
export function DayBars({ days, unit }: Pick<ServiceHistory, 'days' | 'unit'>): VNode {
  const remarkable = days.filter(isRemarkable).length;
  const label = `The last ${days.length} days: ${remarkable === 0 ? 'no problem' : `${pluralText(remarkable, 'day', 'days')} with events`}`;
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${2 * MIDDLE}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {stretchesOf(days).map(({ start, days: [day, ...more], condition }) => (
        <path
          key={start}
          class={condition}
          d={`M${start * STEP} ${MIDDLE}h${more.length * STEP + BAR}`}
        >
          {day !== undefined && isRemarkable(day) && <title>{titleOf(day, unit)}</title>}
        </path>
      ))}
    </svg>
  );
}

/** The same in words, for everybody who does not point at bars. */
export function DayLog({
  days,
  unit,
  incidentsPath,
}: Pick<ServiceHistory, 'days' | 'unit'> & {
  readonly incidentsPath: string;
}): VNode | null {
  const remarkable = days.filter(isRemarkable).toReversed();
  if (remarkable.length === 0) return null;
  return (
    <details>
      <summary>{pluralText(remarkable.length, 'day', 'days')} with events</summary>
      <ul class="log">
        {remarkable.map((day) => (
          <li key={day.day}>
            <time dateTime={day.day}>{dayText(dayMsOf(day))}</time>
            <span>
              {dayWords(day, unit)}
              {day.incidents.map(({ id, name }) => (
                <span key={id}>
                  {'. '}
                  <a href={`${incidentsPath}/${id}`} dir="auto">
                    {name}
                  </a>
                </span>
              ))}
              {day.maintenance.map((name) => (
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
