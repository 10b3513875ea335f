import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../../src/runtime/secret-box.ts';
import { decryptTarget } from '../../../../../src/service/alerts/channels/channel-secrets.ts';
import { findChannel } from '../../../../../src/service/alerts/channels/sql.ts';
import { type CheckWithChannels, createChecks } from '../../../../../src/service/checks/checks.ts';
import type { Store } from '../../../../../src/service/database/store.ts';
import { databases } from '../../../../support/database/databases.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  makeChannel,
  makeCheck,
  noticeOf,
  put,
} from '../../../../support/service/alert-deliveries.ts';
import {
  ALL_CHECKS,
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
  TEST_SECRETS,
  testFeatures,
} from '../../../../support/service/service-features.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const WISHES = {
  sendFailure: true,
  sendRecovery: true,
  sendDegraded: false,
  sendLocationSilent: null,
  sendMonitoringProblems: null,
  sslExpiry: false,
  sslExpiryThreshold: 30,
  groupBy: null,
  groupWindow: 20,
  degradedDigestHour: null,
  subscribeAll: false,
  titleTemplate: null,
  textTemplate: null,
  logicalId: null,
};
const EMAIL = { type: 'EMAIL', config: { address: 'ops@example.com' } };
const WEBHOOK = { type: 'WEBHOOK', config: { name: 'Hook', url: 'https://example.com/hook' } };
const SLACK = { type: 'SLACK', config: { url: 'https://hooks.slack.test/services/T/B/x' } };
const SMS = { type: 'SMS', config: { number: '+4915112345678', name: 'On call' } };
const MASK = '********';
const SECRET = 'never-to-be-seen';
const LOCKED = {
  type: 'WEBHOOK',
  config: {
    ...WEBHOOK.config,
    webhookSecret: SECRET,
    headers: [
      { key: 'Authorization', value: SECRET, locked: true },
      { key: 'X-Team', value: 'ops', locked: false },
    ],
    queryParameters: [{ key: 'token', value: SECRET, locked: true }],
  },
};

/** Channels through the API, and their subscriptions of checks. */
describe.each(databases)('on %s', (kind) => {
  describe('alert channels', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    /** A channel with secrets. None of them is in the database unencrypted. */
    const configOf = async (id: number): Promise<unknown> => {
      const { store, mine } = service();
      const key = { accountId: mine.accountId, id };
      const [row] = await store.query<{ row: object; sealed: Buffer | null }>(
        `select to_jsonb(c) as row, sealed_secrets as sealed from alert_channels c
         where id = $1::bigint`,
        [id],
      );
      const text = JSON.stringify(row?.row) + Buffer.from(row?.sealed ?? []).toString('latin1');
      expect(text).not.toContain(SECRET);
      const found = await findChannel(store, key);
      if (found === null) throw new Error('no such channel');
      const { fields: target, sealedSecrets } = found;
      return decryptTarget(TEST_SECRETS, key, { target, sealedSecrets }).config;
    };

    it.each([
      [EMAIL, {}],
      [
        WEBHOOK,
        {
          method: 'POST',
          template: null,
          headers: [],
          queryParameters: [],
          hasWebhookSecret: false,
        },
      ],
      [SLACK, {}],
      [SMS, {}],
    ])('have defaults: %j', async (fields, defaults) => {
      const { mine } = service();
      const created = await mine.post(CHANNELS, fields);
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        ...fields,
        ...WISHES,
        config: { ...fields.config, ...defaults },
        subscriptions: [],
        id: expect.any(Number),
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: null,
        servedChecks: { total: 0, checks: [] },
      });
      expect((await mine.get(`${CHANNELS}/${created.json.id}`)).json).toEqual(created.json);
      const { servedChecks: _, ...listed } = created.json;
      expect((await mine.get(CHANNELS)).json).toEqual([listed]);
    });

    it('are refused with the masks that keys without write permission see', async () => {
      const { mine, clientWith } = service();
      const reader = await clientWith('read');
      const config = {
        ...WEBHOOK.config,
        headers: [
          { key: 'X-Plain', value: 'plain' },
          { key: 'X-API-Key', value: SECRET },
        ],
        queryParameters: [{ key: 'token', value: SECRET }],
      };
      for (const [fields, masked] of [
        [SLACK, ['url']],
        [{ type: 'WEBHOOK', config }, ['url', 'headers[1].value', 'queryParameters[0].value']],
      ] as const) {
        const { json: created } = await mine.post(CHANNELS, fields);
        const at = `${CHANNELS}/${created.id}`;
        const { hasWebhookSecret: _, ...shown } = (await reader.get(at)).json.config;
        for (const refused of [
          await mine.post(CHANNELS, { type: fields.type, config: shown }),
          await mine.put(at, { config: shown }),
          await mine.patch(at, { config: shown }),
        ]) {
          expect(refused.status, refused.text).toBe(400);
          expect(problemsIn(refused)).toEqual(
            masked.map((path) => expect.stringContaining(`body.config.${path} must not`)),
          );
        }
        expect((await mine.get(at)).json).toEqual(created);
      }
      expect((await mine.get(CHANNELS)).json).toHaveLength(2);
    });

    it.each([
      ['url', { url: `https://example.com/hooks/${MASK}/x` }],
      ['url', { url: `https://example.com/?token=${'%2A'.repeat(8)}` }],
      ['headers[0].value', { headers: [{ key: 'X-Auth', value: `Bearer ${MASK}` }] }],
      ['headers[0].value', { headers: [{ key: 'X-Auth', value: `a${MASK}b`, locked: true }] }],
      ['queryParameters[0].value', { queryParameters: [{ key: 'k', value: `${MASK}!` }] }],
      ['webhookSecret', { webhookSecret: MASK }],
    ])('are refused with a mask as a part of %s', async (field, changes) => {
      const { mine } = service();
      const created = await mine.post(CHANNELS, LOCKED);
      const at = `${CHANNELS}/${created.json.id}`;
      const config = { ...WEBHOOK.config, ...changes };
      for (const refused of [
        await mine.post(CHANNELS, { type: 'WEBHOOK', config }),
        await mine.put(at, { config }),
        await mine.patch(at, { config }),
      ]) {
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused)).toEqual([
          expect.stringContaining(`body.config.${field} must not contain ********`),
        ]);
      }
      expect(await configOf(created.json.id)).toMatchObject(LOCKED.config);
    });

    it('return every field as it was given', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const fields = {
        type: 'WEBHOOK',
        config: {
          name: HOSTILE,
          url: 'http://example.com/hook?a=1',
          method: 'PATCH',
          template: `{{json CHECK_NAME}} ${HOSTILE.replaceAll('{', '')}`,
          headers: [{ key: 'content-type', value: 'text/plain', locked: false }],
          queryParameters: [{ key: HOSTILE, value: HOSTILE, locked: false }],
        },
        sendFailure: false,
        sendRecovery: false,
        sendDegraded: true,
        sendLocationSilent: false,
        sendMonitoringProblems: ['CHANNEL_FAILING', 'SLOTS_MISSED'],
        sslExpiry: true,
        sslExpiryThreshold: 1,
        subscribeAll: true,
        titleTemplate: `{{CHECK_NAME}} ${HOSTILE.replaceAll('{', '')}`,
        textTemplate: '{{ALERT_TEXT}}',
        subscriptions: [{ checkId: 'home', activated: false }],
      };
      const created = await mine.post(CHANNELS, fields);
      expect(created.json).toMatchObject(fields);
      expect((await mine.get(`${CHANNELS}/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each([
      [{ ...EMAIL, type: 'PIGEON' }, 'body.type'],
      [{ type: 'EMAIL' }, 'body.config'],
      [{ ...EMAIL, config: SMS.config }, 'body.config.address'],
      [{ type: 'EMAIL', config: { address: 'a@b.c\r\nBcc: d@e.f' } }, 'body.config.address'],
      [{ type: 'SMS', config: { number: '0151 1', name: 'n' } }, 'body.config.number'],
      [{ type: 'SLACK', config: { url: 'slack' } }, 'body.config.url'],
      [{ ...EMAIL, sslExpiryThreshold: 0 }, 'body.sslExpiryThreshold'],
      [{ ...EMAIL, sslExpiryThreshold: 31 }, 'body.sslExpiryThreshold'],
      [{ ...EMAIL, sendFailure: 'yes' }, 'body.sendFailure'],
      [{ ...EMAIL, titleTemplate: '{{#each TAGS}}' }, 'body.titleTemplate'],
      [{ ...SLACK, textTemplate: '{{> a}}' }, 'body.textTemplate'],
      [{ ...EMAIL, name: 'n' }, 'body.name'],
      [
        { ...WEBHOOK, config: { ...WEBHOOK.config, template: '{{#each TAGS}}' } },
        'body.config.template',
      ],
      [{ ...WEBHOOK, config: { ...WEBHOOK.config, template: '{{> a}}' } }, 'body.config.template'],
      [{ ...EMAIL, subscriptions: [{ checkId: 'none' }] }, 'body.subscriptions[0].checkId'],
      [{ ...EMAIL, subscriptions: [{ checkId: 'a\0' }] }, 'body.subscriptions[0].checkId'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(CHANNELS, fields);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(CHANNELS)).json).toEqual([]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      await makeCheck(service(), 'home');
      await makeCheck(service(), 'shop');
      const subscriptions = [{ checkId: 'home', activated: true }];
      const { json: before } = await mine.post(CHANNELS, { ...SMS, subscriptions });
      const path = `${CHANNELS}/${before.id}`;
      clock.spend(1000);
      const changed = await mine[method](path, { sendDegraded: true });
      const updated_at = new Date(clock.wallMs()).toISOString();
      expect(changed.json).toEqual({ ...before, sendDegraded: true, updated_at });
      // Each write moves updated_at on, also within a millisecond.
      const later = expect.not.stringMatching(updated_at);
      const repeated = await mine[method](path, changed.json);
      expect(repeated.json).toEqual({ ...changed.json, updated_at: later });
      const others = [
        { checkId: 'home', activated: false },
        { checkId: 'shop', activated: true },
      ];
      const subscribed = await mine[method](path, { subscriptions: others });
      expect(subscribed.json).toEqual({
        ...changed.json,
        subscriptions: others,
        updated_at: later,
        servedChecks: { total: 1, checks: [{ id: 'shop', name: 'A check' }] },
      });
      for (const [fields, problem] of [
        [{ id: 0 }, 'body.id'],
        [{ type: 'EMAIL' }, 'body.type'],
        [{ config: EMAIL.config }, 'body.config'],
        [{ config: null }, 'body.config'],
        [{ sslExpiryThreshold: 31 }, 'body.sslExpiryThreshold'],
        [{ textTemplate: '{{' }, 'body.textTemplate'],
        [{ subscriptions: [{ checkId: 'none' }] }, 'body.subscriptions[0].checkId'],
        [{ subscriptions: [others[0], others[0]] }, 'body.subscriptions[1].checkId'],
        [{ subscriptions: [{ checkId: '\0' }] }, 'body.subscriptions[0].checkId'],
        [{ unknown: 1 }, 'body.unknown'],
      ] as const) {
        const refused = await mine[method](path, fields);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(problem);
      }
      expect((await mine.get(path)).json).toEqual(subscribed.json);
    });

    it('do not show their secrets, and retain them when a response is sent back', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const created = await mine.post(CHANNELS, {
        ...LOCKED,
        subscriptions: [{ checkId: 'home' }],
      });
      const path = `${CHANNELS}/${created.json.id}`;
      const answers = [
        created,
        await mine.get(path),
        await mine.get(CHANNELS),
        await mine.get('/v1/checks/home'),
        await mine.get('/v1/checks'),
        await mine.put(path, created.json),
        await mine.patch(path, { config: { ...LOCKED.config, webhookSecret: undefined } }),
      ];
      for (const { status, text } of answers) {
        expect(status).toBeLessThan(300);
        expect(text).not.toContain(SECRET);
      }
      expect(created.json.config).toMatchObject({
        hasWebhookSecret: true,
        headers: [
          { key: 'Authorization', value: '', locked: true },
          { key: 'X-Team', value: 'ops', locked: false },
        ],
        queryParameters: [{ key: 'token', value: '', locked: true }],
      });
      const stored = await configOf(created.json.id);
      expect(stored).toMatchObject(LOCKED.config);
      // A header keeps its value by its name in any case, whatever else changes.
      await mine.patch(path, {
        config: { ...WEBHOOK.config, headers: [{ key: 'authorization', locked: true }] },
      });
      expect(await configOf(created.json.id)).toMatchObject({
        webhookSecret: SECRET,
        headers: [{ key: 'authorization', value: SECRET, locked: true }],
        queryParameters: [],
      });
      const bare = await mine.patch(path, { config: { ...WEBHOOK.config, webhookSecret: null } });
      expect(bare.json.config.hasWebhookSecret).toBe(false);
      expect(JSON.stringify(await configOf(created.json.id))).not.toContain(SECRET);
    });

    it('retain no secrets for another scheme, host or port, and decrypt them for no other channel', async () => {
      const { mine, store } = service();
      const { json: made } = await mine.post(CHANNELS, LOCKED);
      const path = `${CHANNELS}/${made.id}`;
      const elsewhere = { ...made.config, url: 'https://example.com:444/hook' };
      // By http on the same host they could be read on the way.
      for (const url of ['https://evil.test/hook', 'http://example.com/hook', elsewhere.url]) {
        const refused = await mine.patch(path, { config: { ...made.config, url } });
        expect(refused.status, url).toBe(400);
        expect(problemsIn(refused)).toEqual([
          'body.config.headers[0].value must be given again: a locked value stays only where scheme, host and port of the URL stay the same',
          'body.config.queryParameters[0].value must be given again: a locked value stays only where scheme, host and port of the URL stay the same',
        ]);
      }
      expect(await configOf(made.id)).toMatchObject(LOCKED.config);
      const anew = { headers: [], queryParameters: [{ key: 'token', value: 'n', locked: true }] };
      expect((await mine.patch(path, { config: { ...elsewhere, ...anew } })).status).toBe(200);
      expect(await configOf(made.id)).toMatchObject({ webhookSecret: SECRET });
      // For the same host they are retained whatever else changes in the URL.
      const moved = { ...elsewhere, ...anew, url: 'https://example.com:444/other' };
      moved.queryParameters = [{ key: 'token', value: '', locked: true }];
      expect((await mine.patch(path, { config: moved })).status).toBe(200);
      expect(await configOf(made.id)).toMatchObject({ queryParameters: [{ value: 'n' }] });
      const { json: other } = await mine.post(CHANNELS, LOCKED);
      await store.query(
        `update alert_channels c set sealed_secrets = o.sealed_secrets from alert_channels o
         where c.id = $1::bigint and o.id = $2::bigint`,
        [other.id, made.id],
      );
      await expect(configOf(other.id)).rejects.toMatchObject({ status: 409 });
    });

    it('with secrets are refused without an encryption key, and work without secrets', async () => {
      const { mine, store, clock } = service();
      const server = await hookServer();
      const withKey = { ...LOCKED, config: { ...LOCKED.config, url: server.url } };
      const { json: kept } = await mine.post(CHANNELS, withKey);
      const { features, close } = await testFeatures(store, clock, { secrets: null });
      onTestFinished(close);
      const { alertChannels } = features;
      const { accountId } = mine;
      const noKey = { status: 409, attributes: { needed: 'ENCRYPTION_KEY' } };
      await expect(alertChannels.create(accountId, LOCKED)).rejects.toMatchObject(noKey);
      for (const one of [WEBHOOK, EMAIL, SLACK, SMS]) await alertChannels.create(accountId, one);
      // A channel with secrets can be read, and changed except for its secrets.
      expect((await alertChannels.read({ accountId, id: kept.id })).fields.config).toEqual(
        kept.config,
      );
      await alertChannels.update({ accountId, id: kept.id }, { sendFailure: false });
      const { signal } = new AbortController();
      expect(await alertChannels.test({ accountId, id: kept.id }, signal)).toMatchObject({
        ok: false,
        error: expect.stringContaining('ENCRYPTION_KEY'),
      });
      expect(server.requests).toEqual([]);
      // The response, sent back with another name, loses no secret.
      const shown = { ...kept.config, name: 'Other' };
      const same = await alertChannels.update(
        { accountId, id: kept.id },
        { ...kept, config: shown },
      );
      expect(same.fields.config).toEqual(shown);
      expect(await configOf(kept.id)).toMatchObject({ ...withKey.config, name: 'Other' });
      const fewer = { ...kept.config, queryParameters: [] };
      const some = alertChannels.update({ accountId, id: kept.id }, { config: fewer });
      await expect(some).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('body.config.headers[0].value, body.config.webhookSecret'),
        attributes: {
          code: 'CREDENTIAL_NOT_READABLE',
          needed: 'ENCRYPTION_KEY',
          fields: ['body.config.headers[0].value', 'body.config.webhookSecret'],
        },
      });
      expect(await configOf(kept.id)).toMatchObject({ headers: withKey.config.headers });
      const bare = { config: { ...WEBHOOK.config, webhookSecret: null } };
      await alertChannels.update({ accountId, id: kept.id }, bare);
      expect(await configOf(kept.id)).toMatchObject({ headers: [] });
    });

    it('retain their secrets after a change of the encryption key, which seals new ones', async () => {
      const { mine, store, clock } = service();
      const { json: kept } = await mine.post(CHANNELS, LOCKED);
      const secrets = createSecretBox([randomBytes(KEY_BYTES)]);
      const { features, close } = await testFeatures(store, clock, { secrets });
      onTestFinished(close);
      const update = (fields: Record<string, unknown>) =>
        features.alertChannels.update({ accountId: mine.accountId, id: kept.id }, fields);
      await update({ sendDegraded: true });
      await update(kept);
      expect(await configOf(kept.id)).toMatchObject(LOCKED.config);
      const { webhookSecret: _, ...rest } = LOCKED.config;
      await expect(update({ config: rest })).rejects.toMatchObject({
        status: 409,
        attributes: { code: 'CREDENTIAL_NOT_READABLE', fields: ['body.config.webhookSecret'] },
      });
      expect(await configOf(kept.id)).toMatchObject(LOCKED.config);
      await update({ config: LOCKED.config });
      await expect(configOf(kept.id)).rejects.toMatchObject({ status: 409 });
      const key = { accountId: mine.accountId, id: kept.id };
      const found = await findChannel(store, key);
      if (found === null) throw new Error('no such channel');
      const { fields: target, sealedSecrets } = found;
      expect(decryptTarget(secrets, key, { target, sealedSecrets }).config).toMatchObject(
        LOCKED.config,
      );
    });

    it.each([
      [
        'unlocks it',
        [{ key: 'a', value: '' }],
        'body.config.headers[0].value must be given again to unlock it',
      ],
      [
        'omits locked',
        [{ key: 'a' }],
        'body.config.headers[0].value must be given again to unlock it',
      ],
      [
        'has another key',
        [{ key: 'c', value: '', locked: true }],
        'body.config.headers[0].value must be given: no locked value of this key',
      ],
      [
        'was not locked',
        [{ key: 'plain', locked: true }],
        'body.config.headers[0].value must be given: no locked value of this key',
      ],
      [
        'is one of several of its key',
        [{ key: 'B', value: '', locked: true }],
        'body.config.headers[0].value must be given again: there are several',
      ],
    ])('refuse to lose a locked value where it %s', async (_, headers, problem) => {
      const { mine } = service();
      const stored = [
        { key: 'a', value: `${SECRET} a`, locked: true },
        { key: 'b', value: `${SECRET} b1`, locked: true },
        { key: 'plain', value: 'plain', locked: false },
        { key: 'b', value: `${SECRET} b2`, locked: true },
      ];
      const config = { ...WEBHOOK.config, headers: stored };
      const { json: made } = await mine.post(CHANNELS, { type: 'WEBHOOK', config });
      const at = `${CHANNELS}/${made.id}`;
      for (const method of ['put', 'patch'] as const) {
        const refused = await mine[method](at, { config: { ...WEBHOOK.config, headers } });
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused)).toEqual([expect.stringContaining(problem)]);
      }
      expect(await configOf(made.id)).toMatchObject({ headers: stored });
      // The second header stays the second if the first gets a new value.
      const first = { ...stored[1], value: 'new' };
      const shown = made.config.headers.map((one: object, n: number) => (n === 1 ? first : one));
      const changed = await mine.patch(at, { config: { ...made.config, headers: shown } });
      expect(changed.status, changed.text).toBe(200);
      expect(await configOf(made.id)).toMatchObject({
        headers: [stored[0], first, stored[2], stored[3]],
      });
    });

    it('are shown by their checks where the subscription is activated', async () => {
      const { mine } = service();
      const ids: number[] = [];
      for (const fields of [EMAIL, LOCKED, SLACK, SMS])
        ids.push(await makeChannel(service(), fields));
      const silent = await makeChannel(service(), {
        ...EMAIL,
        config: { address: 'no@example.com' },
      });
      const alertChannelSubscriptions = [
        ...ids.map((alertChannelId) => ({ alertChannelId, activated: true })),
        { alertChannelId: silent, activated: false },
      ];
      const check = await makeCheck(service(), 'home', { alertChannelSubscriptions });
      expect(check.alertChannelSubscriptions).toEqual(alertChannelSubscriptions);
      const { name, url } = WEBHOOK.config;
      expect(check.alertChannels).toEqual({
        email: [EMAIL.config],
        webhook: [
          {
            name,
            url,
            method: 'POST',
            headers: [
              { key: 'Authorization', value: '', locked: true },
              { key: 'X-Team', value: 'ops', locked: false },
            ],
            queryParameters: [{ key: 'token', value: '', locked: true }],
          },
        ],
        slack: [SLACK.config],
        sms: [SMS.config],
      });
      for (const path of ['/v1/checks/home', '/v1/checks/url/home']) {
        expect((await mine.get(path)).json).toEqual(check);
      }
      const { warnings: _, ...listed } = check;
      expect((await mine.get('/v1/checks')).json).toEqual([listed]);
      expect((await mine.get(`${CHANNELS}/${silent}`)).json.subscriptions).toEqual([
        { checkId: 'home', activated: false },
      ]);
      const muted = await mine.patch('/v1/checks/home', { muted: true });
      expect(muted.json).toMatchObject({ alertChannelSubscriptions });
      const none = await mine.patch('/v1/checks/home', { alertChannelSubscriptions: [] });
      expect(none.json).toMatchObject({ alertChannelSubscriptions: [] });
      expect(none.json.alertChannels).toEqual({ email: [], webhook: [], slack: [], sms: [] });
    });

    it('are shown with at most 64 KiB of channels, and count the others', async () => {
      const { mine } = service();
      const webhook = (value: string) => ({
        ...WEBHOOK,
        config: {
          ...WEBHOOK.config,
          queryParameters: Array.from({ length: 2 }, () => ({ key: 'k', value })),
        },
      });
      const ids: number[] = [];
      const add = async (fields: object) => void ids.push(await makeChannel(service(), fields));
      const random = () => randomBytes(10_000).toString('hex').slice(0, 19_000);
      // The second one is stored in fewer bytes than the limit, and the third is longer than the rest.
      for (const fields of [webhook(random()), webhook('v'.repeat(20_000)), EMAIL])
        await add(fields);
      await add(webhook(random()));
      const alertChannelSubscriptions = ids.map((alertChannelId) => ({
        alertChannelId,
        activated: true,
      }));
      const check = await makeCheck(service(), 'home', { alertChannelSubscriptions });
      const { email, webhook: webhooks, omitted } = check.alertChannels;
      expect([webhooks.length, email.length, omitted]).toEqual([1, 0, 3]);
      expect(check.alertChannelSubscriptions).toEqual(alertChannelSubscriptions);
      const { warnings: _, ...listed } = check;
      expect((await mine.get('/v1/checks')).json).toEqual([listed]);
      const few = { alertChannelSubscriptions: alertChannelSubscriptions.slice(2, 3) };
      const fewer = await mine.patch('/v1/checks/home', few);
      expect(fewer.json.alertChannels).toMatchObject({ email: [EMAIL.config], webhook: [] });
      expect(fewer.json.alertChannels).not.toHaveProperty('omitted');
    });

    it('of many checks are read in one query', async () => {
      const { store, clock, mine } = service();
      const id = await makeChannel(service(), EMAIL);
      const alertChannelSubscriptions = [{ alertChannelId: id, activated: true }];
      for (const checkId of ['a', 'b', 'c']) {
        await makeCheck(service(), checkId, { alertChannelSubscriptions });
      }
      let queries = 0;
      const counting: Store = Object.assign(Object.create(store), {
        query: (text: string, params?: readonly unknown[]) => {
          queries += 1;
          return store.query(text, params);
        },
      });
      const checks = createChecks({
        store: counting,
        clock,
        outdatedStates: NONE_OUTDATED,
        ids: randomUUID,
        checkVariables: TEST_CHECK_VARIABLES,
      });
      const asked = { ...ALL_CHECKS, limit: 100, page: 1 };
      const found: CheckWithChannels[] = [];
      for await (const slice of checks.list(mine.accountId, asked)) found.push(...slice);
      expect(found.map(({ alertChannels }) => alertChannels.email.length)).toEqual([1, 1, 1]);
      // The queries of the page: the ids, the checks and their channels.
      expect(queries).toBe(3);
    });

    it.each([
      ['post', '/v1/checks/url', ''],
      ['post', '/v1/checks', ''],
      ['put', '/v1/checks/url/made', ''],
      ['put', '/v1/checks/url/made', '?autoAssignAlerts=true'],
      ['put', '/v1/checks/made', ''],
    ] as const)('are all subscribed to a new check: %s %s%s', async (method, path, query) => {
      const { mine } = service();
      const first = await makeChannel(service(), EMAIL);
      const second = await makeChannel(service(), SMS);
      const body = {
        name: 'A check',
        checkType: 'URL',
        locations: ['eu-west-1'],
        request: { url: 'https://e.test/' },
      };
      const off = { alertChannelId: second, activated: false };
      const created = await mine[method](`${path}${query}`, {
        ...body,
        alertChannelSubscriptions: [off],
      });
      expect(created.json.alertChannelSubscriptions).toEqual([
        { alertChannelId: first, activated: true },
        off,
      ]);
      // Only when it is created.
      const again = await mine.put(`/v1/checks/url/${created.json.id}${query}`, {
        alertChannelSubscriptions: [],
      });
      expect(again.json.alertChannelSubscriptions).toEqual([]);
    });

    it.each([
      ['post', '/v1/checks/url'],
      ['put', '/v1/checks/url/made'],
    ] as const)('are not subscribed to a new check if that is off: %s %s', async (method, path) => {
      const { mine } = service();
      await makeChannel(service(), EMAIL);
      const created = await mine[method](`${path}?autoAssignAlerts=false`, {
        name: 'A check',
        locations: ['eu-west-1'],
        request: { url: 'https://e.test/' },
      });
      expect(created.json.alertChannelSubscriptions).toEqual([]);
    });

    it('must exist where a check names them', async () => {
      const { mine, theirs } = service();
      const id = await makeChannel(service(), EMAIL);
      const { json: foreign } = await theirs.post(CHANNELS, SMS);
      await makeCheck(service(), 'home');
      for (const wrong of [foreign.id, 0, -1, 1.5, 1e300, 4_000_000]) {
        const alertChannelSubscriptions = [{ alertChannelId: id }, { alertChannelId: wrong }];
        const refused = await mine.patch('/v1/checks/home', { alertChannelSubscriptions });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)).toEqual([
          `body.alertChannelSubscriptions[1].alertChannelId must be the id of an alert channel: there is no ${wrong}`,
        ]);
      }
      const twice = [{ alertChannelId: id }, { alertChannelId: id }];
      const refused = await mine.patch('/v1/checks/home', { alertChannelSubscriptions: twice });
      expect(problemsIn(refused).join()).toContain('alertChannelSubscriptions[1].alertChannelId');
      expect((await mine.get('/v1/checks/home')).json.alertChannelSubscriptions).toEqual([]);
    });

    it('are deleted with their subscriptions and their log, and not with their checks', async () => {
      const { mine } = service();
      const id = await makeChannel(service(), EMAIL);
      const alertChannelSubscriptions = [{ alertChannelId: id, activated: true }];
      const before = await makeCheck(service(), 'home', { alertChannelSubscriptions });
      await put(service(), noticeOf(service()));
      const path = `${CHANNELS}/${id}`;
      expect((await mine.get(`${path}/deliveries`)).json).toHaveLength(1);
      expect((await mine.delete(path)).status).toBe(204);
      for (const gone of [path, `${path}/deliveries`]) {
        expect((await mine.get(gone)).status).toBe(404);
      }
      expect((await mine.delete(path)).status).toBe(404);
      expect((await mine.post(`${path}/test`)).status).toBe(404);
      const { json: after } = await mine.get('/v1/checks/home');
      expect(after).toMatchObject({ name: before.name, alertChannelSubscriptions: [] });
      expect(after.alertChannels.email).toEqual([]);
      expect((await mine.patch('/v1/checks/home', { muted: true })).status).toBe(200);
    });

    it('stay when their checks are deleted', async () => {
      const { mine } = service();
      const id = await makeChannel(service(), EMAIL);
      const alertChannelSubscriptions = [{ alertChannelId: id, activated: true }];
      await makeCheck(service(), 'home', { alertChannelSubscriptions });
      await put(service(), noticeOf(service()));
      expect((await mine.delete('/v1/checks/home')).status).toBe(204);
      expect((await mine.get(`${CHANNELS}/${id}`)).json.subscriptions).toEqual([]);
      expect((await mine.get(`${CHANNELS}/${id}/deliveries`)).json).toHaveLength(1);
    });

    it('and checks change at the same time without a deadlock', async () => {
      const { mine } = service();
      const checkIds = ['a', 'b', 'c'];
      for (const id of checkIds) await makeCheck(service(), id);
      for (let round = 0; round < 5; round += 1) {
        const kept = await makeChannel(service(), EMAIL);
        const gone = await makeChannel(service(), SMS);
        const subscribe = (...ids: readonly number[]) => ({
          alertChannelSubscriptions: ids.map((alertChannelId) => ({ alertChannelId })),
        });
        const subscriptions = checkIds.map((checkId) => ({ checkId }));
        const replies = await Promise.all([
          ...checkIds.map((id) => mine.patch(`/v1/checks/${id}`, subscribe(kept, gone))),
          mine.patch(`${CHANNELS}/${kept}`, { subscriptions }),
          put(service(), ...checkIds.map((id) => noticeOf(service(), { check: { id } }))),
          mine.delete(`${CHANNELS}/${gone}`),
          ...checkIds.map((id) => mine.patch(`/v1/checks/${id}`, subscribe(kept))),
          mine.patch(`${CHANNELS}/${kept}`, { subscriptions: [] }),
        ]);
        for (const reply of replies) {
          if (reply !== undefined) expect([200, 204, 400]).toContain(reply.status);
        }
        const channel = (await mine.get(`${CHANNELS}/${kept}`)).json;
        const subscribed = channel.subscriptions.map(({ checkId }: { checkId: string }) => checkId);
        for (const id of checkIds) {
          const check = (await mine.get(`/v1/checks/${id}`)).json;
          expect(check.alertChannels.sms).toEqual([]);
          expect(check.alertChannels.email).toHaveLength(subscribed.includes(id) ? 1 : 0);
        }
        await mine.delete(`${CHANNELS}/${kept}`);
      }
    });

    it('of another account are not found and do not change', async () => {
      const { mine, theirs } = service();
      await makeCheck(service(), 'home');
      const { json: channel } = await mine.post(CHANNELS, EMAIL);
      const path = `${CHANNELS}/${channel.id}`;
      expect((await theirs.get(path)).status).toBe(404);
      expect((await theirs.get(`${path}/deliveries`)).status).toBe(404);
      expect((await theirs.post(`${path}/test`)).status).toBe(404);
      expect((await theirs.put(path, { sendFailure: false })).status).toBe(404);
      expect((await theirs.patch(path, { sendFailure: false })).status).toBe(404);
      expect((await theirs.delete(path)).status).toBe(404);
      expect((await theirs.get(CHANNELS)).json).toEqual([]);
      const subscriptions = [{ checkId: 'home' }];
      expect((await theirs.post(CHANNELS, { ...EMAIL, subscriptions })).status).toBe(400);
      expect((await mine.get(path)).json).toEqual(channel);
    });

    it('are listed oldest first, in pages, and their log newest first, in pages', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const ids: number[] = [];
      for (let number = 0; number < 3; number += 1) {
        const subscriptions = [{ checkId: 'home' }];
        ids.push(await makeChannel(service(), { ...EMAIL, subscriptions }));
      }
      const listed = async (query: string): Promise<unknown> =>
        (await mine.get(`${CHANNELS}${query}`)).json.map(({ id }: { id: number }) => id);
      expect(await listed('')).toEqual(ids);
      expect(await listed('?limit=2')).toEqual(ids.slice(0, 2));
      expect(await listed('?limit=2&page=2')).toEqual(ids.slice(2));
      const types = ['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN', 'ALERT_RECOVERY'] as const;
      for (const alertType of types) await put(service(), noticeOf(service(), { alertType }));
      const log = async (query: string): Promise<unknown> =>
        (await mine.get(`${CHANNELS}/${ids[0]}/deliveries${query}`)).json.map(
          ({ alertType }: { alertType: string }) => alertType,
        );
      expect(await log('')).toEqual(types.toReversed());
      expect(await log('?limit=1&page=2')).toEqual(['ALERT_FAILURE_REMAIN']);
      expect(await log('?state=sent&state=failed')).toEqual([]);
      expect(await log('?state=waiting')).toHaveLength(3);
      expect((await mine.get(`${CHANNELS}/${ids[0]}/deliveries?state=lost`)).status).toBe(400);
    });

    it('are changed and tested only by writers', async () => {
      const { mine, clientWith } = service();
      const { json: channel } = await mine.post(CHANNELS, EMAIL);
      const path = `${CHANNELS}/${channel.id}`;
      const runner = await clientWith('run');
      expect((await runner.get(path)).status).toBe(200);
      expect((await runner.get(`${path}/deliveries`)).status).toBe(200);
      expect((await runner.post(CHANNELS, EMAIL)).status).toBe(403);
      expect((await runner.put(path, { sendFailure: false })).status).toBe(403);
      expect((await runner.patch(path, { sendFailure: false })).status).toBe(403);
      expect((await runner.post(`${path}/test`)).status).toBe(403);
      expect((await runner.delete(path)).status).toBe(403);
    });

    it('are compared with a configuration at most 60 times a minute for an account, also if that fails', async () => {
      const { mine, theirs, clock } = service();
      const { id } = (await mine.post(CHANNELS, LOCKED)).json;
      const their = (await theirs.post(CHANNELS, LOCKED)).json.id;
      const compare = (client: typeof mine, channel: number, config: object) =>
        client.post(`${CHANNELS}/${channel}/compare`, { config });
      expect((await compare(mine, id, LOCKED.config)).json).toEqual({ same: true });
      // It is refused as if it did not exist, and counts.
      expect((await compare(mine, their, LOCKED.config)).status).toBe(404);
      const guess = { ...LOCKED.config, webhookSecret: 'a guess' };
      for (let tried = 2; tried < 60; tried += 1) {
        expect((await compare(mine, id, guess)).json).toEqual({ same: false });
      }
      clock.spend(1_000);
      const refused = await compare(mine, id, guess);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '59']);
      expect((await compare(theirs, their, LOCKED.config)).json).toEqual({ same: true });
      clock.spend(58_999);
      expect((await compare(mine, id, LOCKED.config)).status).toBe(429);
      clock.spend(1);
      expect((await compare(mine, id, LOCKED.config)).json).toEqual({ same: true });
    });
  });
});
