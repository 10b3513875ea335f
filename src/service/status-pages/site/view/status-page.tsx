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
  const incidentsPath = `${requested.path}/incidents`;
  const running = maintenance.filter(({ isRunning }) => isRunning);
  const planned = maintenance.filter(({ isRunning }) => !isRunning);
  return (
    <StatusLayout
      requested={requested}
      title={sentenceText(sentence)}
      condition={condition}
      note={
        <>
          As of <Instant atMs={readAtMs} precision="second" />
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
              <strong>Newer data is not available at the moment.</strong> This is the state as of{' '}
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
              incidentsPath={incidentsPath}
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
      {cards.map((card) => (
        <Card key={card.id} card={card} incidentsPath={incidentsPath} />
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

function Card({
  card,
  incidentsPath,
}: {
  readonly card: PageState['cards'][number];
  readonly incidentsPath: string;
}): VNode {
  const { name, services } = card;
  const days = services.find(({ history }) => history !== null)?.history?.days.length;
  return (
    <section class="card">
      <div class="service">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        {days !== undefined && (
          <div class="scale chart">
            <span>{days} days ago</span>
            <span>Today</span>
          </div>
        )}
      </div>
      <ul class="services">
        {services.map((service) => (
          <Service key={service.id} service={service} incidentsPath={incidentsPath} />
        ))}
      </ul>
    </section>
  );
}

function Service({
  service,
  incidentsPath,
}: {
  readonly service: ServiceOnPage;
  readonly incidentsPath: string;
}): VNode {
  const { name, condition, sinceMs, responseTimeMs, history } = service;
  return (
    <li class="service">
      <div>
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <div class="facts">
          {sinceMs !== null && (
            <span>
              Since <Instant atMs={sinceMs} />
            </span>
          )}
          {responseTimeMs !== null && <span>Usually {durationText(responseTimeMs)}</span>}
        </div>
      </div>
      <div class="right">
        <ConditionLabel condition={condition} />
        {history !== null && history.availability !== null && (
          <div class="facts">
            <span>
              <b>{availabilityText(history.availability)}</b> available
            </span>
          </div>
        )}
      </div>
      {history !== null && (
        <div class="chart">
          <DayBars {...history} />
          <DayLog {...history} incidentsPath={incidentsPath} />
        </div>
      )}
    </li>
  );
}
