import type { VNode } from 'preact';
import { ConditionIcon, ConditionLabel } from '../../../../web/status/conditions.tsx';
import { type ShownPage, StatusLayout } from '../../../../web/status/layout.tsx';
import {
  availabilityText,
  durationText,
  Instant,
  RecentInstant,
} from '../../../../web/status/texts.tsx';
import type { PageState, ServiceOnPage } from '../../state/page-state.ts';
import { DayBars, DayLog } from './days.tsx';
import { Maintenance, OpenIncident, PastIncidents } from './events.tsx';
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
  const { cards, incidents, pastIncidents, maintenance, readAtMs, condition } = state;
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
        <Card key={card.id} card={card} nowMs={readAtMs} incidentsPath={incidentsPath} />
      ))}
      {planned.length > 0 && (
        <section class="group">
          <h2>Planned maintenance</h2>
          {planned.map((each) => (
            <Maintenance key={`${each.id} ${each.startMs}`} maintenance={each} names={names} />
          ))}
        </section>
      )}
      {(cards.length > 0 || pastIncidents.length > 0) && (
        <PastIncidents incidents={pastIncidents} path={requested.path} />
      )}
    </StatusLayout>
  );
}

function Card({
  card,
  nowMs,
  incidentsPath,
}: {
  readonly card: PageState['cards'][number];
  readonly nowMs: number;
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
          <Service key={service.id} service={service} nowMs={nowMs} incidentsPath={incidentsPath} />
        ))}
      </ul>
    </section>
  );
}

function Service({
  service,
  nowMs,
  incidentsPath,
}: {
  readonly service: ServiceOnPage;
  readonly nowMs: number;
  readonly incidentsPath: string;
}): VNode {
  const { name, condition, sinceMs, history } = service;
  const responds = responseText(service);
  return (
    <li class="service">
      <div>
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <div class="facts">
          {sinceMs !== null && (
            <span>
              Since <RecentInstant atMs={sinceMs} nowMs={nowMs} />
            </span>
          )}
          {responds !== '' && <span>{responds}</span>}
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

/** How long the service takes to respond; empty where nobody knows. */
function responseText({ condition, responseTimeMs, usualResponseTimeMs }: ServiceOnPage): string {
  const now = responseTimeMs === null ? null : durationText(responseTimeMs);
  if (usualResponseTimeMs === null) return now === null ? '' : `Responds in ${now}`;
  const usually = durationText(usualResponseTimeMs);
  if (condition !== 'DEGRADED' || now === null) return `Usually ${usually}`;
  return `Now ${now}, usually ${usually}`;
}
