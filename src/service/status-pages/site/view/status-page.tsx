import type { VNode } from 'preact';
import { durationText } from '../../../../runtime/text/duration-text.ts';
import { ConditionIcon, ConditionLabel } from '../../../../web/status/conditions.tsx';
import { type ShownPage, StatusLayout } from '../../../../web/status/layout.tsx';
import {
  availabilityText,
  Instant,
  pluralText,
  RecentInstant,
} from '../../../../web/status/texts.tsx';
import type { PageState, ServiceOnPage } from '../../state/page-state.ts';
import { DayBars, DayLog } from './days.tsx';
import { Maintenance, OpenIncident, PastIncidents } from './events.tsx';
import { SentenceWords, sentenceOf, sentenceText, unnamedTroubled } from './sentence.tsx';

/** Services with a problem that are named at the top; the others are counted. */
const SHOWN_TROUBLED = 10;
/** With more services, the content below them is out of sight, so the top mentions it. */
const SHORT_PAGE_SERVICES = 8;

/** The id of the section with planned maintenance; services have UUIDs. */
const PLANNED = 'planned';

interface StatusPageViewProps {
  readonly requested: ShownPage;
  readonly state: PageState;
  /** Whether a newer state could not be read. */
  readonly isStale: boolean;
}

/** The main page of a status page. */
export function StatusPageView({ requested, state, isStale }: StatusPageViewProps): VNode {
  const sentence = sentenceOf(state);
  const { cards, incidents, pastIncidents, maintenance, readAtMs } = state;
  const troubled = unnamedTroubled(state, sentence);
  const targets = targetsOf(cards, new Set(troubled.map(({ id }) => id)));
  // Nothing is shown that could be operational.
  const isEmpty = cards.every(({ services }) => services.length === 0) && incidents.length === 0;
  const condition = isEmpty ? 'UNKNOWN' : state.condition;
  const names = new Map(
    cards.flatMap(({ services }) => services).map(({ id, name }) => [id, name]),
  );
  const { description } = requested.page.fields;
  const incidentsPath = `${requested.path}/incidents`;
  const running = maintenance.filter(({ isRunning }) => isRunning);
  const planned = maintenance.filter(({ isRunning }) => !isRunning);
  const [next] = names.size > SHORT_PAGE_SERVICES ? planned : [];
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
          {troubled.length > 0 && <Troubled services={troubled} />}
          {next !== undefined && (
            <p>
              <a href={`#${PLANNED}`}>Maintenance is planned</a> for <Instant atMs={next.startMs} />
              .
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
        <Card
          key={card.id}
          card={card}
          nowMs={readAtMs}
          incidentsPath={incidentsPath}
          targets={targets}
        />
      ))}
      {planned.length > 0 && (
        <section class="group" id={PLANNED}>
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

/** The first card with each of the services, by the id of the service. */
function targetsOf(
  cards: PageState['cards'],
  serviceIds: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const places = cards.flatMap((card) => card.services.map(({ id }) => [id, card.id] as const));
  return new Map(places.filter(([id]) => serviceIds.has(id)).toReversed());
}

/** Links to other services with a problem, which may be far down on a long page. */
function Troubled({ services }: { readonly services: readonly ServiceOnPage[] }): VNode {
  const left = services.length - SHOWN_TROUBLED;
  return (
    <ul class="troubled">
      {services.slice(0, SHOWN_TROUBLED).map(({ id, name, condition }) => (
        <li key={id}>
          <a href={`#${id}`}>
            <bdi>{name}</bdi>
          </a>
          <ConditionLabel condition={condition} />
        </li>
      ))}
      {left > 0 && <li>and {pluralText(left, 'other', 'others')}</li>}
    </ul>
  );
}

function Card({
  card,
  nowMs,
  incidentsPath,
  targets,
}: {
  readonly card: PageState['cards'][number];
  readonly nowMs: number;
  readonly incidentsPath: string;
  /** The card on which a link leads to a service, by its id: a service may be on several. */
  readonly targets: ReadonlyMap<string, string>;
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
          <Service
            key={service.id}
            service={service}
            nowMs={nowMs}
            incidentsPath={incidentsPath}
            isTarget={targets.get(service.id) === card.id}
          />
        ))}
      </ul>
    </section>
  );
}

function Service({
  service,
  nowMs,
  incidentsPath,
  isTarget,
}: {
  readonly service: ServiceOnPage;
  readonly nowMs: number;
  readonly incidentsPath: string;
  /** Whether a link leads here. */
  readonly isTarget: boolean;
}): VNode {
  const { id, name, condition, sinceMs, history } = service;
  const responds = responseText(service);
  return (
    <li class="service" id={isTarget ? id : undefined}>
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

/** The response time of the service as text; empty if unknown. */
function responseText({ condition, responseTimeMs, usualResponseTimeMs }: ServiceOnPage): string {
  const now = responseTimeMs === null ? null : durationText(responseTimeMs);
  if (usualResponseTimeMs === null) return now === null ? '' : `Responds in ${now}`;
  const usually = durationText(usualResponseTimeMs);
  if (condition !== 'DEGRADED' || now === null) return `Usually ${usually}`;
  return `Now ${now}, usually ${usually}`;
}
