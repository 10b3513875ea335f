import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, shortRows } from './message-texts.ts';

/** Published: 1024. */
const MAX_SUMMARY_CHARS = 1024;
/** Published: 512 KB for the event. */
const MAX_VALUE_CHARS = 2000;
const SEVERITIES = { critical: 'critical', warning: 'warning', ok: 'info' } as const;

/** PagerDuty: Events API v2. The deduplication key is that of the problem. */
export const pagerduty: Adapter<'PAGERDUTY'> = {
  type: 'PAGERDUTY',
  request({ config, facts, key }) {
    const { action, severity, title, error, isCustom, details, subject, startedAtMs } = facts;
    const { link, acknowledgeLink } = facts;
    const links = [
      ...(link === null ? [] : [{ href: link, text: 'Details' }]),
      ...(acknowledgeLink === null ? [] : [{ href: acknowledgeLink, text: 'Acknowledge' }]),
    ];
    return jsonRequest(endpointOf(config.url, 'v2/enqueue'), {
      routing_key: config.routingKey,
      event_action: action,
      dedup_key: key,
      payload: {
        summary: fitChars(title, MAX_SUMMARY_CHARS),
        source: fitChars(subject.name, MAX_SUMMARY_CHARS),
        severity: SEVERITIES[severity],
        timestamp: new Date(startedAtMs).toISOString(),
        component: subject.id,
        class: subject.kind,
        ...(subject.group === null ? {} : { group: subject.group }),
        custom_details: {
          ...(isCustom && error !== null ? { Text: fitChars(error, MAX_VALUE_CHARS) } : {}),
          ...Object.fromEntries(shortRows(details, MAX_VALUE_CHARS)),
        },
      },
      client: 'Vedette',
      ...(link === null ? {} : { client_url: link }),
      ...(links.length === 0 ? {} : { links }),
    });
  },
};
