import type { VNode } from 'preact';
import type { IncidentSeverity } from '../../../../model/incident/status-page-incident.ts';
import { stateUnder } from '../../../../model/incident/status-page-incident.ts';
import { twoUnitText } from '../../../../runtime/text/duration-text.ts';
import { CONDITION_WORDS, ConditionIcon } from '../../../../web/status/conditions.tsx';
import { dateText, INCIDENT_STATUS_WORDS, Instant, Period } from '../../../../web/status/texts.tsx';
import { affectedServices } from '../../state/affected-services.ts';
import {
  type IncidentOnPage,
  type MaintenanceOnPage,
  NEAR_DAYS,
} from '../../state/events-on-page.ts';

/** Past incidents that are named; the others are in the history. */
const SHOWN_PAST_INCIDENTS = 10;
/** Updates that are shown at once; the others are folded. */
const SHOWN_UPDATES = 3;

/** The names of services, by id. */
export type Names = ReadonlyMap<string, string>;

export function OpenIncident({
  incident,
  names,
  incidentsPath,
}: {
  readonly incident: IncidentOnPage;
  readonly names: Names;
  readonly incidentsPath: string;
}): VNode {
  const { id, name, severity, startedAtMs, updates, serviceIds } = incident;
  const later = updates.slice(SHOWN_UPDATES);
  return (
    <article class="card">
      <div class="top">
        <h3>
          <bdi>
            <a href={`${incidentsPath}/${id}`}>{name}</a>
          </bdi>
        </h3>
        <Impact severity={severity} />
      </div>
      <div class="facts">
        <span>
          Since <Instant atMs={startedAtMs} />
        </span>
        <Services ids={serviceIds} names={names} />
      </div>
      <ol class="updates">{updates.slice(0, SHOWN_UPDATES).map(Update)}</ol>
      {later.length > 0 && (
        <details>
          <summary>Earlier updates ({later.length})</summary>
          <ol class="updates">{later.map(Update)}</ol>
        </details>
      )}
    </article>
  );
}

/** Describes the impact of an incident on its services. */
export function Impact({
  severity,
  isOver = false,
}: {
  readonly severity: IncidentSeverity;
  /** Without the colour of a present problem. */
  readonly isOver?: boolean;
}): VNode {
  const condition = stateUnder([severity]);
  return (
    <span class={`state ${isOver ? 'UNKNOWN' : condition}`}>
      <ConditionIcon condition={condition} />
      {CONDITION_WORDS[condition]}
    </span>
  );
}

export function Update({
  id,
  status,
  description,
  atMs,
}: IncidentOnPage['updates'][number]): VNode {
  return (
    <li key={id}>
      <div class="small muted">
        <strong>{INCIDENT_STATUS_WORDS[status]}</strong> · <Instant atMs={atMs} />
      </div>
      <p dir="auto">{description}</p>
    </li>
  );
}

export function Maintenance({
  maintenance,
  names,
}: {
  readonly maintenance: MaintenanceOnPage;
  readonly names: Names;
}): VNode {
  const { name, description, startMs, endMs, isRunning, serviceIds } = maintenance;
  return (
    <article class="card">
      <div class="top">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span class={`state ${isRunning ? 'MAINTENANCE' : 'UNKNOWN'}`}>
          {isRunning && <ConditionIcon condition="MAINTENANCE" />}
          {isRunning ? 'Under way' : 'Planned'}
        </span>
      </div>
      <div class="facts">
        <span>
          <Period startMs={startMs} endMs={endMs} />
        </span>
        <Services ids={serviceIds} names={names} />
      </div>
      {description !== null && <p dir="auto">{description}</p>}
    </article>
  );
}

export function Services({
  ids,
  names,
}: {
  readonly ids: readonly string[];
  readonly names: Names;
}) {
  const { names: named, rest } = affectedServices(ids, names);
  if (named.length === 0 && rest === '') return null;
  return (
    <span>
      Affects{' '}
      {named.map((name, index) => (
        <>
          {index > 0 && ', '}
          <bdi>{name}</bdi>
        </>
      ))}
      {named.length > 0 && rest !== '' && ' '}
      {rest}
    </span>
  );
}

/** Recently resolved incidents, each in a line with a link to its permanent page. */
export function PastIncidents({
  incidents,
  path,
}: {
  readonly incidents: readonly IncidentOnPage[];
  readonly path: string;
}): VNode {
  return (
    <section class="group">
      <h2>Past incidents</h2>
      {incidents.length === 0 ? (
        <p class="muted">None in the last {NEAR_DAYS} days.</p>
      ) : (
        <ul class="past card">
          {incidents.slice(0, SHOWN_PAST_INCIDENTS).map((incident) => (
            <PastIncident key={incident.id} incident={incident} path={path} />
          ))}
        </ul>
      )}
      <p>
        <a href={`${path}/history`}>All incidents and maintenance</a>
      </p>
    </section>
  );
}

function PastIncident({
  incident: { id, name, severity, startedAtMs, resolvedAtMs },
  path,
}: {
  readonly incident: IncidentOnPage;
  readonly path: string;
}): VNode {
  return (
    <li>
      <time class="muted" dateTime={new Date(startedAtMs).toISOString()}>
        {dateText(startedAtMs)}
      </time>
      <span>
        <bdi>
          <a href={`${path}/incidents/${id}`}>{name}</a>
        </bdi>
      </span>
      <span class="muted">
        {CONDITION_WORDS[stateUnder([severity])]}
        {resolvedAtMs !== null && `, ${twoUnitText(resolvedAtMs - startedAtMs)}`}
      </span>
    </li>
  );
}
