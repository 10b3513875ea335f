import { describe, expect, it, onTestFinished } from 'vitest';
import { ALERT_TYPES } from '../../../../../src/model/alerting/alert.ts';
import {
  alertChannelSchema,
  type ChannelTarget,
  type MessageTemplates,
} from '../../../../../src/model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from '../../../../../src/model/alerting/service-channels.ts';
import { secretFieldsOf } from '../../../../../src/model/alerting/service-targets.ts';
import { createNoticeSender } from '../../../../../src/service/alerts/delivery/notice-sender.ts';
import { sampleNotice } from '../../../../../src/service/alerts/delivery/sample-notice.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import { incidentKeyOf } from '../../../../../src/service/alerts/senders/incident-key.ts';
import {
  NO_OUTGOING,
  readOutgoingConfig,
} from '../../../../../src/service/outgoing/outgoing-config.ts';
import type { SendOutcome } from '../../../../../src/service/outgoing/send-outcome.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { type HookServer, hookServer } from '../../../../support/servers/hook-server.ts';
import { SERVICE_RULES } from '../../../../support/servers/service-rules/all-rules.ts';
import { problemIn, problemsOf } from '../../../../support/servers/service-rules/rules.ts';

const NOTICE: AlertNotice = {
  ...sampleNotice({ alertId: 'a', atMs: Date.parse('2026-01-01T12:00:00Z') }),
  check: {
    id: 'home',
    name: 'Home page',
    checkType: 'URL',
    tags: ['shop', 'eu'],
    groupName: 'Shop',
  },
  resultId: 'result-1',
};
/** Text that the services read as markup, mentions and links, longer than any of them accepts. */
const HOSTILE =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it must stay as it is
  '<@everyone> @all <!channel> <users/all|x> </b><script>&amp; \\ ` *a* _b_ ~c~ |d| [e](https://e.test) # ${f} {{g}} "h" 😀\n'.repeat(
    60,
  );
const BY = { kind: 'user', id: 'u', name: `${HOSTILE.slice(0, 200)}a@e.test` } as const;
const LOCATION = { id: 'l', slug: 'berlin', name: 'Berlin', checks: 3 };

const EVERY_NOTICE: readonly AlertNotice[] = [
  ...ALERT_TYPES.filter((type) => type !== 'NO_ALERT').map((alertType) => {
    return { ...NOTICE, alertType, sslDaysRemaining: 7 };
  }),
  { ...NOTICE, location: LOCATION },
  { ...NOTICE, location: LOCATION, alertType: 'ALERT_RECOVERY', error: null },
  { ...NOTICE, reminder: 3, error: null, statusCode: null },
  {
    ...NOTICE,
    escalatedAfterMinutes: 10,
    acknowledgeLink: 'https://vedette.test/acknowledge/a-1.7.0f',
  },
  { ...NOTICE, acknowledgement: { by: BY, isUndone: false } },
  { ...NOTICE, acknowledgement: { by: BY, isUndone: true } },
  {
    ...NOTICE,
    error: HOSTILE,
    runLocation: HOSTILE,
    check: {
      ...NOTICE.check,
      name: HOSTILE.slice(0, 255),
      groupName: HOSTILE.slice(0, 255),
      tags: Array.from({ length: 50 }, (_, index) => `${HOSTILE.slice(0, 100)}${index}`),
    },
  },
];

const NO_TEMPLATES: MessageTemplates = { titleTemplate: null, textTemplate: null };

function senderFor(
  type: ServiceChannelType,
  { url }: HookServer,
  config = NO_OUTGOING,
  templates = NO_TEMPLATES,
) {
  const sender = createNoticeSender(config, {
    clock: new FakeClock(),
    linkBase: { url: 'https://vedette.test' },
  });
  onTestFinished(() => sender.close());
  const channel = { type, config: SERVICE_RULES[type].config(new URL(url).origin) };
  const { type: _, config: parsed } = alertChannelSchema.parse(channel);
  const target = { type, config: parsed } as ChannelTarget;
  let count = 0;
  return (notice: AlertNotice): Promise<SendOutcome> => {
    count += 1;
    const delivery = { deliveryId: `delivery-${count}`, key: incidentKeyOf('account', notice) };
    return sender.send({ ...delivery, target, notice, templates }, new AbortController().signal);
  };
}

/** Accepts requests that follow the published rules of the service, and answers others with 400. */
function serverOf(type: ServiceChannelType): Promise<HookServer> {
  const rules = SERVICE_RULES[type];
  return hookServer((request, response) => {
    const problems = problemsOf(rules, request);
    const { status, body } =
      problems.length === 0 ? rules.answer : { status: 400, body: problems.join('\n') };
    response.writeHead(status).end(body);
  });
}

/** A server that always gives this answer. */
function answering(status: number, body = '', headers: Record<string, string> = {}) {
  return hookServer((request, response) => {
    response.writeHead(status, headers).end(body === 'echo' ? echoOf(request) : body);
  });
}

function echoOf({ path, headers, body }: HookServer['requests'][number]): string {
  return `${path} ${JSON.stringify(headers)} ${body}`;
}

describe.each(SERVICE_CHANNEL_TYPES)('a channel of the type %s', (type) => {
  it('sends each kind of notice in a form that the service accepts, with any text', async () => {
    const server = await serverOf(type);
    const send = senderFor(type, server);
    for (const notice of EVERY_NOTICE) {
      const { ok, answer } = await send(notice);
      expect({ ok, answer }, notice.alertType).toMatchObject({ ok: true });
    }
    expect(server.requests).toHaveLength(EVERY_NOTICE.length);
  });

  it('says what happened, why, where and since when, with a link', async () => {
    const server = await serverOf(type);
    await senderFor(type, server)({ ...NOTICE, error: 'Refused', runLocation: 'oslo' });
    const [request] = server.requests;
    const text = decodeURIComponent(request?.body.replaceAll('+', ' ') ?? '');
    for (const part of ['Home page has failed', 'Refused', 'oslo', '2026', 'result-1']) {
      expect(text.replaceAll('\\', '')).toContain(part);
    }
  });

  it('sends rendered templates of the channel in a form that the service accepts', async () => {
    const server = await serverOf(type);
    const send = senderFor(type, server, NO_OUTGOING, {
      titleTemplate: '{{CHECK_NAME}} is down {{RUN_LOCATION}}',
      textTemplate: 'Call Kim <b>now</b>: {{ERROR_MESSAGE}} {{RUN_LOCATION}} {{ALERT_TEXT}}',
    });
    for (const notice of EVERY_NOTICE) {
      expect(await send(notice), notice.alertType).toMatchObject({ ok: true, remark: null });
    }
    const [request] = server.requests;
    const text = decodeURIComponent(request?.body.replaceAll('+', ' ') ?? '');
    for (const part of ['Home page is down test', 'Call Kim']) expect(text).toContain(part);
  });

  it('leads to the page that acknowledges the alert', async () => {
    const server = await serverOf(type);
    const acknowledgeLink = `https://vedette.test/acknowledge/${'0a-'.repeat(25)}`;
    await senderFor(type, server)({ ...NOTICE, acknowledgeLink });
    const [request] = server.requests;
    expect(decodeURIComponent(request?.body ?? '').replaceAll('\\', '')).toContain(acknowledgeLink);
  });

  it('names a problem by one key from its alert to its recovery', async () => {
    const server = await serverOf(type);
    const send = senderFor(type, server);
    await send({ ...NOTICE, alertId: 'a' });
    await send({ ...NOTICE, alertId: 'a', reminder: 1 });
    await send({ ...NOTICE, alertId: 'a', acknowledgement: { by: BY, isUndone: false } });
    await send({ ...NOTICE, alertId: 'b', alertType: 'ALERT_FAILURE_DEGRADED' });
    await send({
      ...NOTICE,
      alertId: 'c',
      alertType: 'ALERT_DEGRADED_RECOVERY',
      error: null,
      runLocation: 'other',
      check: { ...NOTICE.check, name: 'Renamed', tags: [] },
    });
    const problems = server.requests.map((request) =>
      problemIn(SERVICE_RULES[type], request, NOTICE.atMs),
    );
    const { closes } = SERVICE_CHANNELS[type];
    expect(problems.map((problem) => problem?.isOver ?? false)).toEqual([
      false,
      false,
      false,
      false,
      closes,
    ]);
    expect(new Set(problems.map((problem) => problem?.key ?? null)).size).toBe(1);
  });

  it('retries after a response that asks for it, and gives up after a refusal', async () => {
    const busy = await answering(429, '', { 'retry-after': '30' });
    expect(await senderFor(type, busy)(NOTICE)).toMatchObject({
      isFinal: false,
      retryAfterMs: 30_000,
    });
    const broken = await answering(503);
    expect(await senderFor(type, broken)(NOTICE)).toMatchObject({ ok: false, isFinal: false });
    const refusing = await answering(400);
    expect(await senderFor(type, refusing)(NOTICE)).toMatchObject({ ok: false, isFinal: true });
  });

  it('shows none of its secrets in an answer that repeats the request', async () => {
    const server = await answering(403, 'echo');
    const outcome = await senderFor(type, server)(NOTICE);
    const config = SERVICE_RULES[type].config('');
    for (const field of secretFieldsOf(type)) {
      expect(JSON.stringify(outcome)).not.toContain(String(config[field]));
    }
  });

  it('does not reach a network that DELIVERY_DENY denies', async () => {
    const server = await serverOf(type);
    const denying = readOutgoingConfig({ DELIVERY_DENY: '127.0.0.0/8' });
    const outcome = await senderFor(type, server, denying)(NOTICE);
    expect(outcome).toMatchObject({ ok: false, isFinal: true });
    expect(server.requests).toEqual([]);
  });
});

describe('the wait that the response of a service requests', () => {
  it.each([
    ['TELEGRAM', '{"ok":false,"parameters":{"retry_after":40}}', 40_000],
    ['DISCORD', '{"message":"You are being rate limited.","retry_after":1.5}', 1500],
    ['MATRIX', '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2500}', 2500],
    ['MATRIX', 'no JSON', null],
    ['TELEGRAM', '{"parameters":{"retry_after":86400}}', 300_000],
  ] as const)('of type %s, %s, is kept', async (type, body, retryAfterMs) => {
    const server = await answering(429, body);
    expect(await senderFor(type, server)(NOTICE)).toMatchObject({ isFinal: false, retryAfterMs });
  });
});

describe('the key of a problem', () => {
  it('differs between accounts, checks, locations, and for the certificate of a check', () => {
    const keys = [
      incidentKeyOf('one', NOTICE),
      incidentKeyOf('two', NOTICE),
      incidentKeyOf('one', { ...NOTICE, check: { ...NOTICE.check, id: 'other' } }),
      incidentKeyOf('one', { ...NOTICE, location: LOCATION }),
      incidentKeyOf('one', { ...NOTICE, alertType: 'ALERT_SSL' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
