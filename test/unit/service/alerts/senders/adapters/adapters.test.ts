import { describe, expect, it } from 'vitest';
import type { ServiceChannelType } from '../../../../../../src/model/alerting/service-channels.ts';
import type { ServiceConfigs } from '../../../../../../src/model/alerting/service-targets.ts';
import {
  sampleEndOf,
  sampleNotice,
} from '../../../../../../src/service/alerts/delivery/sample-notice.ts';
import type { AlertNotice } from '../../../../../../src/service/alerts/notice.ts';
import type {
  Adapter,
  AdapterRequest,
} from '../../../../../../src/service/alerts/senders/adapters/adapter.ts';
import { ADAPTERS } from '../../../../../../src/service/alerts/senders/adapters/registry.ts';
import { messageFactsOf } from '../../../../../../src/service/alerts/senders/message-facts.ts';

const AT_MS = Date.parse('2026-01-01T12:00:00Z');
const LINK = 'https://vedette.test/checks/home';
const NOTICE: AlertNotice = {
  ...sampleNotice({ alertId: 'a', atMs: AT_MS }),
  check: { id: 'home', name: '*Shop* @all', checkType: 'URL', tags: ['eu'], groupName: null },
  error: '<b>Refused</b>',
  link: LINK,
};
const END = sampleEndOf(NOTICE);
const TAKEN: AlertNotice = {
  ...NOTICE,
  acknowledgement: { by: { kind: 'user', id: 'u', name: 'ann@e.test' }, isUndone: false },
};

function request<Type extends ServiceChannelType>(
  type: Type,
  config: ServiceConfigs[Type],
  notice = NOTICE,
): AdapterRequest {
  const adapter: Adapter<Type> = ADAPTERS[type];
  const facts = messageFactsOf(notice);
  return adapter.request({ config, facts, key: 'key', deliveryId: 'd', nowMs: AT_MS });
}

const bodyOf = ({ body }: AdapterRequest) => JSON.parse(body);

describe('a message to', () => {
  it('Teams has text runs, which read no markup, and a button', () => {
    const config = { name: 'n', url: 'https://flow.test/x?sig=1' };
    const { summary, attachments } = bodyOf(request('TEAMS', config));
    const [{ content }] = attachments;
    expect(summary).toBe('*Shop* @all has failed: <b>Refused</b>');
    expect(content.body[0]).toMatchObject({ type: 'Container', style: 'attention' });
    expect(content.body[1].inlines).toEqual([{ type: 'TextRun', text: '<b>Refused</b>' }]);
    expect(content.actions).toEqual([{ type: 'Action.OpenUrl', title: 'Details', url: LINK }]);
  });

  it('Discord escapes Markdown and mentions nobody', () => {
    const config = { name: 'n', url: 'https://discord.test/api/webhooks/1/a' };
    const { content, allowed_mentions, embeds } = bodyOf(request('DISCORD', config));
    expect(content).toBe('\\*Shop\\* @all has failed: \\<b\\>Refused\\</b\\>');
    expect(allowed_mentions).toEqual({ parse: [] });
    expect(embeds[0].description).toBe('\\<b\\>Refused\\</b\\>');
  });

  it('Telegram is HTML with the three characters escaped, to the bot in the path', () => {
    const url = 'https://api.telegram.org';
    const config = { name: 'n', url, botToken: '1:a', chatId: '@ops', threadId: null };
    const sent = request('TELEGRAM', config);
    expect(sent.url.href).toBe('https://api.telegram.org/bot1:a/sendMessage');
    const { text, message_thread_id } = bodyOf(sent);
    expect(text).toContain('<b>*Shop* @all has failed</b>\n&lt;b&gt;Refused&lt;/b&gt;');
    expect(message_thread_id).toBeUndefined();
  });

  it('PagerDuty triggers, acknowledges and resolves by one deduplication key', () => {
    const config = { name: 'n', url: 'https://events.pagerduty.com', routingKey: 'r' };
    const sent = request('PAGERDUTY', config);
    expect(sent.url.href).toBe('https://events.pagerduty.com/v2/enqueue');
    expect(bodyOf(sent)).toMatchObject({
      routing_key: 'r',
      event_action: 'trigger',
      dedup_key: 'key',
      payload: { summary: '*Shop* @all has failed: <b>Refused</b>', severity: 'critical' },
    });
    expect(bodyOf(request('PAGERDUTY', config, TAKEN))).toMatchObject({
      event_action: 'acknowledge',
      dedup_key: 'key',
      payload: { summary: 'ann@e.test has acknowledged the alert of *Shop* @all' },
    });
    expect(bodyOf(request('PAGERDUTY', config, END))).toMatchObject({
      event_action: 'resolve',
      dedup_key: 'key',
    });
  });

  it('Opsgenie creates an alert, and acknowledges and closes it by its alias', () => {
    const url = 'https://api.opsgenie.com';
    const config = { name: 'n', url, apiKey: 'k', priority: 'P1' } as const;
    const sent = request('OPSGENIE', config);
    expect(sent).toMatchObject({ headers: { authorization: 'GenieKey k' } });
    expect(bodyOf(sent)).toMatchObject({ alias: 'key', priority: 'P1', tags: ['eu'] });
    const degraded: AlertNotice = { ...NOTICE, alertType: 'ALERT_DEGRADED' };
    expect(bodyOf(request('OPSGENIE', config, degraded)).priority).toBe('P2');
    expect(request('OPSGENIE', config, TAKEN).url.href).toBe(
      'https://api.opsgenie.com/v2/alerts/key/acknowledge?identifierType=alias',
    );
    expect(request('OPSGENIE', config, END).url.href).toBe(
      'https://api.opsgenie.com/v2/alerts/key/close?identifierType=alias',
    );
  });

  it('ntfy begins with the error, and has a token only where one is set', () => {
    const config = { name: 'n', url: 'https://ntfy.sh', topic: 't', token: null };
    const sent = request('NTFY', config);
    expect(sent.headers).not.toHaveProperty('authorization');
    expect(bodyOf(sent)).toMatchObject({ topic: 't', priority: 5, click: LINK });
    expect(bodyOf(sent).message).toMatch(/^<b>Refused<\/b>\n/);
    expect(request('NTFY', { ...config, token: 'k' }).headers.authorization).toBe('Bearer k');
  });

  it('Pushover is a form, without a link that is too long', () => {
    const url = 'https://api.pushover.net';
    const config = { name: 'n', url, token: 't', userKey: 'u', device: null };
    const form = new URLSearchParams(request('PUSHOVER', config).body);
    expect(form.get('title')).toBe('*Shop* @all has failed');
    expect(form.get('priority')).toBe('1');
    expect(form.get('url')).toBe(LINK);
    const long: AlertNotice = { ...END, link: `https://e.test/${'a'.repeat(500)}` };
    const other = new URLSearchParams(request('PUSHOVER', config, long).body);
    expect([other.get('priority'), other.get('url')]).toEqual(['0', null]);
  });

  it('Google Chat is a card in the thread of the problem', () => {
    const config = { name: 'n', url: 'https://chat.test/v1/spaces/A/messages?key=k' };
    const named: AlertNotice = { ...NOTICE, check: { ...NOTICE.check, name: '<users/all>' } };
    const { text, thread, cardsV2 } = bodyOf(request('GOOGLE_CHAT', config, named));
    expect(text).toBe('‹users/all› has failed: ‹b›Refused‹/b›');
    expect(thread).toEqual({ threadKey: 'key' });
    expect(cardsV2[0].card.sections[0].widgets[0]).toEqual({
      textParagraph: { text: '&lt;b&gt;Refused&lt;/b&gt;' },
    });
  });

  it('Mattermost escapes Markdown and mentions nobody', () => {
    const { text, attachments } = bodyOf(
      request('MATTERMOST', { name: 'n', url: 'https://mm.test/hooks/a' }),
    );
    expect(text).toBe('\\*Shop\\* @\u200ball has failed: \\<b\\>Refused\\</b\\>');
    expect(attachments[0]).toMatchObject({ title_link: LINK, text: '\\<b\\>Refused\\</b\\>' });
  });

  it('Matrix is sent once for a delivery, and mentions nobody', () => {
    const url = 'https://matrix.test/';
    const config = { name: 'n', url, roomId: '!r:matrix.test', accessToken: 'k' };
    const sent = request('MATRIX', config);
    expect(sent.url.pathname).toBe(
      '/_matrix/client/v3/rooms/!r%3Amatrix.test/send/m.room.message/d',
    );
    expect(bodyOf(sent)['m.mentions']).toEqual({});
    expect(bodyOf(sent).formatted_body).toContain('<br>&lt;b&gt;Refused&lt;/b&gt;<br>');
  });

  it('Gotify is plain text, below the path of the server', () => {
    const sent = request('GOTIFY', { name: 'n', url: 'https://push.test/gotify', token: 'k' });
    expect(sent.url.href).toBe('https://push.test/gotify/message');
    expect(sent.headers['x-gotify-key']).toBe('k');
    expect(bodyOf(sent).extras['client::display']).toEqual({ contentType: 'text/plain' });
  });

  it('incident.io fires and resolves by one deduplication key', () => {
    const url = 'https://api.incident.io/v2/alert_events/http/1';
    const config = { name: 'n', url, token: 'k' };
    const [begin, end] = [NOTICE, END].map((each) => bodyOf(request('INCIDENT_IO', config, each)));
    expect(begin).toMatchObject({ status: 'firing', deduplication_key: 'key', source_url: LINK });
    expect(end).toMatchObject({ status: 'resolved', deduplication_key: 'key' });
    expect(begin.description).toContain('\\<b\\>Refused\\</b\\>');
  });

  const alertmanager = { name: 'n', url: 'https://am.test', username: null, password: null };
  const alertsOf = (notice: AlertNotice): readonly Record<string, unknown>[] =>
    bodyOf(request('ALERTMANAGER', alertmanager, notice));

  it('Alertmanager stays open until its end is sent, with the same labels', () => {
    const [[begin], [end]] = [alertsOf(NOTICE), alertsOf(END)];
    expect(begin?.labels).toEqual(end?.labels);
    expect(Date.parse(String(begin?.endsAt))).toBeGreaterThan(AT_MS);
    // Earlier than the recovery: the clock of the Alertmanager may be behind.
    expect(Date.parse(String(end?.endsAt))).toBe(AT_MS - 10_000);
    expect(end).not.toHaveProperty('startsAt');
  });

  it('Alertmanager has labels to route by: name, severity, check, group, location and tags', () => {
    const check = { ...NOTICE.check, groupName: 'Shops', tags: ['team:shop', 'env=prod', 'eu'] };
    const [alert, ...others] = alertsOf({ ...NOTICE, check, onlyLocation: 'berlin' });
    expect(others).toEqual([]);
    expect(alert?.labels).toEqual({
      alertname: 'VedetteCheck',
      severity: 'critical',
      check: '*Shop* @all',
      check_id: 'home',
      group: 'Shops',
      location: 'berlin',
      tag_team: 'shop',
      tag_env: 'prod',
      tag_eu: 'true',
      key: 'key',
    });
    const degraded = { ...NOTICE, alertType: 'ALERT_DEGRADED' } as const;
    expect(alertsOf(degraded)[0]?.labels).toMatchObject({ severity: 'warning' });
    expect(alertsOf({ ...NOTICE, alertType: 'ALERT_SSL' })[0]?.labels).toMatchObject({
      alertname: 'VedetteCertificate',
      severity: 'warning',
      check_id: 'home',
    });
    // An acknowledgement does not change the problem.
    expect(alertsOf(TAKEN)[0]?.labels).toEqual(alertsOf(NOTICE)[0]?.labels);
  });

  it('Alertmanager has no labels of a check where the alert is of a location or of monitoring', () => {
    const location = { id: 'l1', slug: 'berlin', name: 'Berlin', checks: 2 };
    expect(alertsOf({ ...NOTICE, location })[0]?.labels).toEqual({
      alertname: 'VedetteLocation',
      severity: 'critical',
      location: 'berlin',
      key: 'key',
    });
    const subject = { kind: 'location', id: 'l1', slug: 'berlin', name: 'Berlin' } as const;
    const problem = { kind: 'AGENT_OUTDATED', subject } as const;
    expect(alertsOf({ ...NOTICE, alertType: 'ALERT_DEGRADED', problem })[0]?.labels).toEqual({
      alertname: 'VedetteMonitoring',
      severity: 'warning',
      problem: 'AGENT_OUTDATED',
      location: 'berlin',
      key: 'key',
    });
  });

  it('Alertmanager gets tags as labels with valid names, few and short, in any order', () => {
    const labels = (tags: readonly string[]) =>
      alertsOf({ ...NOTICE, check: { ...NOTICE.check, tags } })[0]?.labels as object;
    const tagsIn = (tags: readonly string[]) =>
      Object.fromEntries(Object.entries(labels(tags)).filter(([name]) => name.startsWith('tag_')));
    expect(
      tagsIn(['cost-center: 42 ', 'severity:page', 'a:2', 'a:1', ':x', 'url:http://e.test']),
    ).toEqual({
      tag_cost_center: '42',
      tag_severity: 'page',
      tag_a: '1,2',
      tag_url: 'http://e.test',
    });
    expect(labels(['severity:page'])).toMatchObject({ severity: 'critical' });
    expect(tagsIn(['b:2', 'a', 'b:1'])).toEqual(tagsIn(['b:1', 'b:2', 'a']));
    const many = Array.from({ length: 100 }, (_, number) => `tag-${number}:${'v'.repeat(1000)}`);
    const values = Object.values(tagsIn([...many, 'n'.repeat(100)]));
    expect(values).toHaveLength(20);
    expect(values.every((value) => value.length === 200)).toBe(true);
  });

  it('Alertmanager ends the alert of the severity before, when that changes', () => {
    const [now, before, ...others] = alertsOf({ ...NOTICE, alertType: 'ALERT_DEGRADED_FAILURE' });
    expect(others).toEqual([]);
    expect(now?.labels).toMatchObject({ severity: 'critical' });
    expect(Date.parse(String(now?.endsAt))).toBeGreaterThan(AT_MS);
    expect(before?.labels).toEqual({ ...(now?.labels as object), severity: 'warning' });
    expect(Date.parse(String(before?.endsAt))).toBe(AT_MS - 10_000);
  });

  it('Alertmanager ends an alert that is not sent again for 15 minutes, counted from each sending', () => {
    const sentAt = (nowMs: number, notice = NOTICE): number => {
      const facts = messageFactsOf(notice);
      const message = { config: alertmanager, facts, key: 'key', deliveryId: 'd', nowMs };
      const [alert] = bodyOf(ADAPTERS.ALERTMANAGER.request(message));
      return Date.parse(alert.endsAt) - nowMs;
    };
    const later = AT_MS + 86_400_000;
    expect([sentAt(AT_MS), sentAt(later)]).toEqual([900_000, 900_000]);
    expect(sentAt(AT_MS, { ...NOTICE, alertType: 'ALERT_SSL' })).toBe(30 * 86_400_000);
    const repeated = { ...NOTICE, alertType: 'ALERT_DEGRADED_FAILURE', isRepeated: true } as const;
    expect(alertsOf(repeated)).toHaveLength(1);
  });

  it('Alertmanager gets the end of the alert under its previous labels after the check was renamed', () => {
    const previousNotice: AlertNotice = { ...NOTICE, alertType: 'ALERT_FAILURE' };
    const check = { ...NOTICE.check, name: 'Renamed', tags: [] };
    // The channel is not notified of degraded checks, and the check was degraded last.
    const end = alertsOf({ ...END, alertType: 'ALERT_DEGRADED_RECOVERY', check, previousNotice });
    expect(end.map(({ labels }) => labels)).toEqual([alertsOf(NOTICE)[0]?.labels]);
    const again = alertsOf({ ...NOTICE, check, error: 'Other', reminder: 1, previousNotice });
    expect(again.map(({ annotations }) => annotations)).toEqual([
      expect.objectContaining({
        summary: 'Renamed has failed (reminder 1): Other',
        name: 'Renamed',
      }),
      alertsOf(NOTICE)[0]?.annotations,
    ]);
    expect(again.map(({ labels }) => labels)).toMatchObject([
      { check: 'Renamed' },
      { check: NOTICE.check.name, tag_eu: 'true' },
    ]);
    expect(alertsOf({ ...NOTICE, reminder: 1, previousNotice })).toHaveLength(1);
    expect(alertsOf({ ...NOTICE, previousNotice: END })).toHaveLength(1);
    expect(alertsOf({ ...NOTICE, previousNotice: null })).toHaveLength(1);
  });
});
