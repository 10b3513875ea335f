import type { VNode } from 'preact';
import { twoUnitText } from '../../../../runtime/text/duration-text.ts';
import { ConditionLabel } from '../../../../web/status/conditions.tsx';
import { type ShownPage, StatusLayout } from '../../../../web/status/layout.tsx';
import { Instant, monthText, Period, pluralText } from '../../../../web/status/texts.tsx';
import { Impact, type Names, Services } from '../../site/view/events.tsx';
import type { Month } from '../months.ts';
import type { MonthOfHistory } from '../page-history.ts';

interface HistoryViewProps {
  readonly requested: ShownPage;
  /** The newest first. */
  readonly months: readonly MonthOfHistory[];
  /** null if the months are the newest. */
  readonly later: Month | null;
  /** null if readers cannot go further back. */
  readonly earlier: Month | null;
  readonly names: Names;
}

/** Incidents and past maintenance by month. */
export function HistoryView(props: HistoryViewProps): VNode {
  const { requested, months, later, earlier, names } = props;
  const { path } = requested;
  return (
    <StatusLayout requested={requested} title="History">
      <h1>History</h1>
      {months.map((month) => (
        <MonthSection key={month.month.name} {...month} path={path} names={names} />
      ))}
      <nav class="months" aria-label="Months">
        {earlier !== null && (
          <a href={`${path}/history/${earlier.name}`} rel="prev">
            Earlier: {monthText(earlier.startMs)}
          </a>
        )}
        {later !== null && (
          <a href={`${path}/history/${later.name}`} rel="next">
            Later: {monthText(later.startMs)}
          </a>
        )}
      </nav>
    </StatusLayout>
  );
}

function MonthSection({
  month,
  events,
  notShown,
  path,
  names,
}: MonthOfHistory & { readonly path: string; readonly names: Names }): VNode {
  return (
    <section class="group">
      <h2>{monthText(month.startMs)}</h2>
      {events.length === 0 && <p class="muted">No incidents, and no maintenance.</p>}
      {events.map((event) => (
        <article class="card" key={`${event.kind} ${event.id} ${event.startMs}`}>
          <div class="top">
            <h3 dir="auto">
              {event.kind === 'incident' ? (
                <a href={`${path}/incidents/${event.id}`}>{event.name}</a>
              ) : (
                event.name
              )}
            </h3>
            {event.kind === 'incident' ? (
              <Impact severity={event.severity} isOver={event.endMs !== null} />
            ) : (
              <ConditionLabel condition="MAINTENANCE" />
            )}
          </div>
          <div class="facts">
            {event.endMs === null ? (
              <span>
                Open since <Instant atMs={event.startMs} />
              </span>
            ) : (
              <>
                <span>
                  <Period startMs={event.startMs} endMs={event.endMs} />
                </span>
                <span>
                  {event.kind === 'incident' ? 'Resolved after' : 'Lasted'}{' '}
                  {twoUnitText(event.endMs - event.startMs)}
                </span>
              </>
            )}
            <Services ids={event.serviceIds} names={names} />
          </div>
        </article>
      ))}
      {notShown > 0 && (
        <p class="muted">
          {pluralText(notShown, 'earlier event is', 'earlier events are')} not shown.
        </p>
      )}
    </section>
  );
}
