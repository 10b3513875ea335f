import { isDeepStrictEqual } from 'node:util';
import { DAY_MS, MINUTE_MS } from '../../../../model/time-units.ts';
import type { MessageFacts, RoutingFacts } from '../message-facts.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, plainTextOf } from './message-texts.ts';

const MAX_TEXT_CHARS = 4000;
/**
 * An open alert is sent again every 3 minutes (src/service/alerts/repeats). If it is not sent for 15 minutes, because
 * the check was deleted or the service is down, it ends by itself. `resolve_timeout` of the Alertmanager is not used:
 * it may be shorter than a restart of the service.
 */
const OPEN_FOR_MS = 15 * MINUTE_MS;
/** The alert of a certificate is sent once, and has no end. */
const CERTIFICATE_FOR_MS = 30 * DAY_MS;

/**
 * The Alertmanager ignores an end in its future if the alert has a later one. Ends are therefore set a little earlier,
 * in case its clock is behind.
 */
const ENDED_EARLIER_MS = 10_000;

/** Alertmanager publishes no limits. These keep alerts and their notifications small. */
const MAX_LABEL_CHARS = 200;
const MAX_TAG_NAME_CHARS = 60;
const MAX_TAGS = 20;

/**
 * Alertmanager: API v2. It identifies an alert by its labels: what stays the same while a problem lasts, and the
 * severity. If a label changes, the alert with the previous labels is ended in the same request.
 */
export const alertmanager: Adapter<'ALERTMANAGER'> = {
  type: 'ALERTMANAGER',
  request({ config, facts, key, nowMs }) {
    const { action, link, routing, replaces, atMs, startedAtMs } = facts;
    const isOver = action === 'resolve';
    const page = link === null ? {} : { generatorURL: link };
    const openForMs = routing.about === 'certificate' ? CERTIFICATE_FOR_MS : OPEN_FOR_MS;
    const endedAtMs = Math.min(atMs, nowMs) - ENDED_EARLIER_MS;
    const labels = labelsOf(routing, key);
    const alert = {
      annotations: annotationsOf(facts, routing),
      labels,
      ...page,
      // Without a start, the end of an alert keeps that of its beginning.
      ...(isOver ? {} : { startsAt: new Date(Math.min(startedAtMs, atMs)).toISOString() }),
      // The clock of the replica that sends may be behind that of the one that judged.
      endsAt: new Date(isOver ? endedAtMs : Math.max(nowMs, atMs) + openForMs).toISOString(),
    };
    const earlier = replaces === null ? null : labelsOf(replaces.routing, key);
    const isReplaced = earlier !== null && !isDeepStrictEqual(earlier, labels);
    const ended = {
      annotations: annotationsOf(replaces?.facts ?? facts, replaces?.routing ?? routing),
      labels: earlier,
      ...page,
      endsAt: new Date(endedAtMs).toISOString(),
    };
    const alerts = isReplaced ? [alert, ended] : [alert];
    return jsonRequest(endpointOf(config.url, 'api/v2/alerts'), alerts, authorizationOf(config));
  },
};

/** The text of the alert, with the name that is in its labels. */
function annotationsOf(
  facts: MessageFacts,
  { subject: { name, kind } }: RoutingFacts,
): Readonly<Record<string, string>> {
  return {
    summary: fitChars(facts.title, MAX_TEXT_CHARS),
    description: fitChars(plainTextOf(facts), MAX_TEXT_CHARS),
    name,
    kind,
  };
}

const ALERT_NAMES = {
  check: 'VedetteCheck',
  certificate: 'VedetteCertificate',
  location: 'VedetteLocation',
  monitoring: 'VedetteMonitoring',
} as const;

/** The key distinguishes checks of different accounts that have the same id. */
function labelsOf(
  { about, severity, subject, location }: RoutingFacts,
  key: string,
): Readonly<Record<string, string>> {
  const isOfCheck = about === 'check' || about === 'certificate';
  const labels = {
    ...(isOfCheck ? tagLabels(subject.tags) : {}),
    alertname: ALERT_NAMES[about],
    severity,
    check: isOfCheck ? subject.name : '',
    check_id: isOfCheck ? subject.id : '',
    group: subject.group ?? '',
    location: location ?? '',
    problem: about === 'monitoring' ? subject.kind : '',
    key,
  };
  // Alertmanager treats a label without a value as absent.
  return Object.fromEntries(
    Object.entries(labels)
      .map(([name, value]) => [name, fitChars(value.trim(), MAX_LABEL_CHARS)] as const)
      .filter(([, value]) => value !== ''),
  );
}

/**
 * `team:shop` and `team=shop` become `tag_team="shop"`, and `production` becomes `tag_production="true"`. The prefix
 * keeps tags from taking the place of other labels. The order of the tags does not matter.
 */
function tagLabels(tags: readonly string[]): Readonly<Record<string, string>> {
  const labels = new Map<string, string>();
  for (const tag of [...new Set(tags)].sort((one, other) => (one < other ? -1 : 1))) {
    const [, rawName = '', rawValue = ''] = /^([^:=]*)[:=]?(.*)$/su.exec(tag) ?? [];
    const name = `tag_${rawName.trim().replaceAll(/[^a-zA-Z0-9_]/gu, '_')}`;
    const value = rawValue.trim() === '' ? 'true' : rawValue.trim();
    const isValid = rawName.trim() !== '' && name.length <= MAX_TAG_NAME_CHARS;
    const before = labels.get(name);
    if (!isValid || (before === undefined && labels.size === MAX_TAGS)) continue;
    labels.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(labels);
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
