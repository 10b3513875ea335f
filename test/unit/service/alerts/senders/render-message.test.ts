import { describe, expect, it } from 'vitest';
import type { ServiceChannelType } from '../../../../../src/model/alerting/service-channels.ts';
import type { ServiceConfigs } from '../../../../../src/model/alerting/service-targets.ts';
import {
  sampleEndOf,
  sampleNotice,
} from '../../../../../src/service/alerts/delivery/sample-notice.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import type { Adapter } from '../../../../../src/service/alerts/senders/adapters/adapter.ts';
import { ADAPTERS } from '../../../../../src/service/alerts/senders/adapters/registry.ts';
import { mailOf } from '../../../../../src/service/alerts/senders/email.ts';
import {
  renderMessage,
  templateProblemOf,
} from '../../../../../src/service/alerts/senders/render-message.ts';
import { slackMessage } from '../../../../../src/service/alerts/senders/slack.ts';
import { smsText } from '../../../../../src/service/alerts/senders/sms.ts';

const SAMPLE: AlertNotice = {
  ...sampleNotice({ alertId: 'a', atMs: 3_600_000, timeZone: 'Europe/Berlin' }),
  error: '<b>Refused</b> @all',
  link: 'https://vedette.test/checks/home',
};

function rendered(
  titleTemplate: string | null,
  textTemplate: string | null,
  notice: AlertNotice = SAMPLE,
) {
  return renderMessage({ deliveryId: 'd', notice, templates: { titleTemplate, textTemplate } });
}

describe('a message without templates', () => {
  it('has the reason in the title, and the most important facts first', () => {
    const { facts, remark } = rendered(null, null);
    expect(remark).toBeNull();
    expect(facts.title).toBe('Test (no real failure) has failed: <b>Refused</b> @all');
    expect(facts.rows.map(([label]) => label).slice(0, 3)).toEqual(['Location', 'Since', 'Phase']);
    expect(facts.rows).toContainEqual(['Since', '1970-01-01T01:55:00.000+01:00 (Europe/Berlin)']);
  });

  it('of a silent location has no reason in the title, which says it', () => {
    const location = { id: 'l', slug: 'berlin', name: 'Berlin', checks: 3 };
    const { facts } = rendered(null, null, { ...SAMPLE, location });
    expect(facts.title).toBe('Location Berlin is silent: its checks do not run');
  });
});

describe('a message by templates', () => {
  it('has the notice that it replaces in the words of the templates, too', () => {
    const previousNotice = { ...SAMPLE, error: 'Before' };
    const { facts } = rendered('{{CHECK_NAME}}!', '{{ERROR_MESSAGE}}!', {
      ...SAMPLE,
      previousNotice,
    });
    const title = 'Test (no real failure)!';
    expect(facts).toMatchObject({ title, replaces: { facts: { title, error: 'Before!' } } });
  });

  it('has the default in place of a template that hides what the notice is about', () => {
    const by = { kind: 'user', id: 'u', name: 'ann@e.test' } as const;
    const taken = { ...SAMPLE, acknowledgement: { by, isUndone: false } };
    const bundle = { key: null, count: 2, lines: ['One has failed', 'Two has failed'] };
    const grouped = { ...SAMPLE, bundle };
    const flapping = { ...SAMPLE, flapping: 'started' } as const;
    const plain = '{{CHECK_NAME}} is down';
    expect(rendered(plain, plain, taken).facts).toMatchObject({
      title: 'ann@e.test has acknowledged the alert of Test (no real failure)',
      error: 'Test (no real failure) is down',
    });
    expect(rendered(plain, plain, flapping).facts.title).toContain('is flapping');
    expect(rendered(plain, plain, grouped)).toMatchObject({
      facts: { title: '2 notifications of checks', error: 'One has failed\nTwo has failed' },
      remark: null,
    });
    expect(
      rendered('{{ALERT_TITLE}}!', '{{#each NOTICE_LIST}}{{this}}; {{/each}}', grouped).facts,
    ).toMatchObject({
      title: '2 notifications of checks!',
      error: 'One has failed; Two has failed;',
    });
    const known = rendered('{{ACKNOWLEDGED_BY}} on {{CHECK_NAME}}', null, taken);
    expect(known.facts.title).toBe('ann@e.test on Test (no real failure)');
  });

  it('has their title on one line, and their text in place of all facts', () => {
    const { facts, remark } = rendered(
      '{{CHECK_NAME}}\r\nBcc: x',
      'Since {{SINCE}}: {{WHAT_TO_TRY}}\n\n{{#if LASTED}}over{{else}}{{LAST_PASSED}}{{/if}}\n',
    );
    expect(remark).toBeNull();
    expect(facts.headline).toBe('Test (no real failure) Bcc: x');
    expect(facts.title).toBe(facts.headline);
    expect(facts.error).toBe(
      'Since 1970-01-01T01:55:00.000+01:00 (Europe/Berlin): Nothing: this is only a test.\n\n1970-01-01T01:54:00.000+01:00 (Europe/Berlin): 123 ms, status 200',
    );
    expect(facts.rows).toEqual([]);
    // For what machines read.
    expect(facts.details).toContainEqual(['Status', '503']);
  });

  it('has how long the problem lasted at its end', () => {
    const { facts } = rendered(null, 'It took {{LASTED}}.', sampleEndOf(SAMPLE));
    expect(facts.headline).toBe('Test (no real failure) has recovered (after 5 min)');
    expect(facts.error).toBe('It took 5 min.');
  });

  it('of a problem of monitoring itself has since when it lasts, and how long it lasted', () => {
    const subject = { kind: 'channel', id: 7, type: 'EMAIL', name: 'ops' } as const;
    const { sinceMs: _since, link: _link, ...sample } = SAMPLE;
    const begun: AlertNotice = {
      ...sample,
      problem: { kind: 'CHANNEL_FAILING', subject },
      runLocation: '',
      startedAtMs: 60_000,
      error: 'The status was 404',
    };
    const template = '{{#if LASTED}}It took {{LASTED}}.{{else}}Since {{SINCE}}.{{/if}}';
    expect(rendered(null, template, begun).facts.error).toBe(
      'Since 1970-01-01T01:01:00.000+01:00 (Europe/Berlin).',
    );
    const ended = { ...begun, alertType: 'ALERT_RECOVERY', error: null } as const;
    expect(rendered(null, template, ended).facts.error).toBe('It took 59 min.');
    expect(smsText(rendered(null, null, begun).facts, begun)).toBe(
      'Channel ops does not take notifications: The status was 404',
    );
    expect(smsText(rendered(null, null, ended).facts, ended)).toBe(
      'Over: Channel ops does not take notifications (after 59 min)',
    );
  });

  it('has the default in place of one that fails or makes nothing, and says why', () => {
    const { facts, remark } = rendered('{{#if LASTED}}x{{/if}}', '{{#each X}}');
    expect(facts.headline).toBe('Test (no real failure) has failed');
    expect(facts.isCustom).toBe(false);
    expect(facts.rows).not.toEqual([]);
    expect(remark).toContain(
      'the default was sent in place of titleTemplate, which failed: it makes an empty text',
    );
    expect(remark).toContain('the default was sent in place of textTemplate, which failed: ');
    expect(templateProblemOf('{{#each X}}', 'text/plain')).toContain('must be a template');
    expect(templateProblemOf('{{CHECK_NAME}}', 'text/plain')).toBeNull();
  });

  const { facts } = rendered('{{ALERT_TITLE}} <i>', '<u>Call *Kim*</u>: {{{ERROR_MESSAGE}}}');
  const bodyFor = <Type extends ServiceChannelType>(type: Type, config: ServiceConfigs[Type]) => {
    const adapter: Adapter<Type> = ADAPTERS[type];
    const message = { config, facts, key: 'k', deliveryId: 'd', nowMs: 0 };
    return JSON.parse(adapter.request(message).body);
  };

  it('is escaped by the form of the channel, what the template says included', () => {
    const { html, subject, text } = mailOf(facts);
    expect(subject).toBe('Test (no real failure) has failed <i>');
    expect(html).toContain('<p>&lt;u&gt;Call *Kim*&lt;/u&gt;: &lt;b&gt;Refused&lt;/b&gt; @all</p>');
    expect(html).not.toMatch(/<[iub]>/);
    expect(text).toContain('\n\n<u>Call *Kim*</u>: <b>Refused</b> @all\n\nDetails: https://');
    expect(JSON.stringify(slackMessage({ ...facts, link: null }))).not.toMatch(/[<>]/);
    const url = 'https://hook.test/';
    const telegram = { name: 'n', url, botToken: '1:a', chatId: '@ops', threadId: null };
    expect(bodyFor('TELEGRAM', telegram).text).toContain(
      '<b>Test (no real failure) has failed &lt;i&gt;</b>\n&lt;u&gt;Call *Kim*&lt;/u&gt;: &lt;b&gt;',
    );
    expect(bodyFor('DISCORD', { name: 'n', url }).embeds[0].description).toBe(
      '\\<u\\>Call \\*Kim\\*\\</u\\>: \\<b\\>Refused\\</b\\> @all',
    );
    expect(bodyFor('MATTERMOST', { name: 'n', url }).attachments[0].text).toContain('@\u200ball');
    const pager = { name: 'n', url, routingKey: 'r' };
    expect(bodyFor('PAGERDUTY', pager).payload.custom_details).toMatchObject({
      Text: '<u>Call *Kim*</u>: <b>Refused</b> @all',
      Location: 'test',
    });
  });

  it('stands in an SMS after the title', () => {
    expect(smsText(facts, SAMPLE)).toBe(
      'Test (no real failure) has failed <i>: <u>Call *Kim*</u>: <b>Refused</b> @all https://vedette.test/checks/home',
    );
  });
});
