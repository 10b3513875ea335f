import { MONITORING_PROBLEMS } from '../../../../model/alerting/monitoring-problems.ts';
import { DAY_MS } from '../../../../model/time-units.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, plainTextOf } from './message-texts.ts';

const MAX_TEXT_CHARS = 4000;
/**
 * An alert without an end is over after the `resolve_timeout` of the Alertmanager, since Prometheus repeats
 * alerts all the time. A notice is sent once.
 */
const OPEN_FOR_MS = 30 * DAY_MS;

/**
 * Alertmanager: API v2. The labels are what it knows an alert by, so they are only what never changes while
 * a problem lasts: not the severity, not the location, not the name of the check.
 */
export const alertmanager: Adapter<'ALERTMANAGER'> = {
  type: 'ALERTMANAGER',
  request({ config, facts, key }) {
    const { phase, severity, title, link, subject, atMs, startedAtMs } = facts;
    const isOver = phase === 'resolve';
    const endsAtMs = isOver ? atMs : atMs + OPEN_FOR_MS;
    const alert = {
      labels: {
        alertname: alertNameOf(subject.kind),
        id: subject.id,
        key,
      },
      annotations: {
        summary: fitChars(title, MAX_TEXT_CHARS),
        description: fitChars(plainTextOf(facts), MAX_TEXT_CHARS),
        severity,
        name: subject.name,
        kind: subject.kind,
      },
      // Without a start, the end of an alert keeps that of its beginning.
      ...(isOver ? {} : { startsAt: new Date(Math.min(startedAtMs, atMs)).toISOString() }),
      endsAt: new Date(endsAtMs).toISOString(),
      ...(link === null ? {} : { generatorURL: link }),
    };
    return jsonRequest(endpointOf(config.url, 'api/v2/alerts'), [alert], authorizationOf(config));
  },
};

function alertNameOf(kind: string): string {
  if (kind === 'LOCATION') return 'VedetteLocation';
  const isProblem = (MONITORING_PROBLEMS as readonly string[]).includes(kind);
  return isProblem ? 'VedetteMonitoring' : 'VedetteCheck';
}

/** RFC 7617. */
function authorizationOf({
  username,
  password,
}: {
  readonly username: string | null;
  readonly password: string | null;
}): Readonly<Record<string, string>> {
  if (username === null && password === null) return {};
  const credentials = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
  return { authorization: `Basic ${credentials}` };
}
