import type { VNode } from 'preact';
import { ConditionIcon, ConditionLabel } from '../../../../web/status/conditions.tsx';
import { type ShownPage, StatusLayout } from '../../../../web/status/layout.tsx';
import { availabilityText, durationText, Instant } from '../../../../web/status/texts.tsx';
import type { PageState, ServiceOnPage } from '../../state/page-state.ts';
import { DayBars, DayLog } from './days.tsx';
import { Maintenance, OpenIncident } from './events.tsx';
import { SentenceWords, sentenceOf, sentenceText } from './sentence.tsx';

interface StatusPageViewProps {
  readonly requested: ShownPage;
  readonly state: PageState;
  /** Whether a newer state could not be read. */
  readonly isStale: boolean;
}

/** What readers see at the address of a status page. */
export function StatusPageView({ requested, state, isStale }: StatusPageViewProps): VNode {
  const sentence = sentenceOf(state);
  const { cards, incidents, maintenance, readAtMs, condition } = state;
  const names = new Map(
    cards.flatMap(({ services }) => services).map(({ id, name }) => [id, name]),
  );
  const { description } = requested.page.fields;
  const running = maintenance.filter(({ isRunning }) => isRunning);
  const planned = maintenance.filter(({ isRunning }) => !isRunning);
  return (
    <StatusLayout
      requested={requested}
      title={sentenceText(sentence)}
      note={
        <>
          State of <Instant atMs={readAtMs} precision="second" />
        </>
      }
    >
      <section class={`now ${condition}`}>
        <ConditionIcon condition={condition} />
        <div>
          <h1>
            <SentenceWords {...sentence} />
          </h1>
          {(sentence.sinceMs !== null || sentence.others !== '') && (
            <p>
              {sentence.sinceMs !== null && (
                <>
                  Since <Instant atMs={sentence.sinceMs} />.{' '}
                </>
              )}
              {sentence.others}
            </p>
          )}
          {isStale && (
            <p>
              <strong>Newer data is not available at the moment.</strong> This is the state of{' '}
              <Instant atMs={readAtMs} />.
            </p>
          )}
        </div>
      </section>
      {description !== null && (
        <p class="lead" dir="auto">
          {description}
        </p>
      )}
      {incidents.length > 0 && (
        <section class="group">
          <h2>Open incidents</h2>
          {incidents.map((incident) => (
            <OpenIncident
              key={incident.id}
              incident={incident}
              names={names}
              incidentsPath={null}
            />
          ))}
        </section>
      )}
      {running.length > 0 && (
        <section class="group">
          <h2>Maintenance</h2>
          {running.map((each) => (
            <Maintenance key={`${each.id} ${each.startMs}`} maintenance={each} names={names} />
          ))}
        </section>
      )}
      {cards.map(({ id, name, services }) => (
        <section key={id} class="card">
          <h2 dir="auto">{name}</h2>
          <ul class="services">
            {services.map((service) => (
              <Service key={service.id} service={service} incidentsPath={null} />
            ))}
          </ul>
        </section>
      ))}
      {planned.length > 0 && (
        <section class="group">
          <h2>Planned maintenance</h2>
          {planned.map((each) => (
            <Maintenance key={`${each.id} ${each.startMs}`} maintenance={each} names={names} />
          ))}
        </section>
      )}
    </StatusLayout>
  );
}

function Service({
  service,
  incidentsPath,
}: {
  readonly service: ServiceOnPage;
  readonly incidentsPath: string | null;
}): VNode {
  const { name, condition, sinceMs, responseTimeMs, history } = service;
  return (
    <li>
      <div class="top">
        <h3 dir="auto">{name}</h3>
        <ConditionLabel condition={condition} />
      </div>
      {(sinceMs !== null || responseTimeMs !== null) && (
        <div class="facts">
          {sinceMs !== null && (
            <span>
              Since <Instant atMs={sinceMs} />
            </span>
          )}
          {responseTimeMs !== null && (
            <span>Response time usually {durationText(responseTimeMs)}</span>
          )}
        </div>
      )}
      {history !== null && (
        <>
          <DayBars days={history.days} />
          <div class="scale">
            <span>{history.days.length} days ago</span>
            {history.availability !== null && (
              <span>
                <b>{availabilityText(history.availability)}</b> available
              </span>
            )}
            <span>Today</span>
          </div>
          <DayLog days={history.days} incidentsPath={incidentsPath} />
        </>
      )}
    </li>
  );
}
