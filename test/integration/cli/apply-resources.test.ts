import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadCheckFile } from '../../../src/agent/source/file/load-check-file.ts';
import { type ApplyPlan, makePlan, type PlanRequest } from '../../../src/cli/apply/plan.ts';
import { noChanges, writePlan } from '../../../src/cli/apply/write-plan.ts';
import { ApiClient } from '../../../src/cli/service-api/api-client.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { VedetteError } from '../../../src/runtime/errors.ts';
import { runHere } from '../../support/agent/cli.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { locationWithAgent } from '../../support/service/live-agent.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

const RHYTHM = { period: 1, periodUnit: 'DAYS', grace: 2, graceUnit: 'HOURS' };
const TCP = { checkType: 'TCP', request: { hostname: 'a.example', port: 80 } };

let pages = 0;

/** A file of entries that name each other. Each page of a service needs its own url. */
const whole = () => ({
  alertChannels: [
    { id: 'ops', type: 'EMAIL', config: { address: 'ops@example.com' } },
    { id: 'chat', type: 'SLACK', config: { url: 'https://chat.example/hooks/s3cret' } },
  ],
  groups: [{ id: 'shop', name: 'Shop', tags: ['shop'], alertSettings: {} }],
  heartbeats: [
    {
      id: 'backup',
      groupId: 'shop',
      alertChannelSubscriptions: [{ alertChannelId: 'ops' }],
      heartbeat: RHYTHM,
    },
  ],
  checks: [
    {
      id: 'home',
      ...TCP,
      groupId: 'shop',
      alertChannelSubscriptions: [{ alertChannelId: 'ops' }, { alertChannelId: 'chat' }],
      triggerIncident: { serviceId: 'web', severity: 'MAJOR', name: 'The shop is down' },
    },
  ],
  statusServices: [
    { id: 'web', name: 'Web shop', checkIds: ['home'], checkTags: ['shop'] },
    { id: 'jobs', heartbeatIds: ['backup'] },
  ],
  statusPages: [
    {
      id: 'main',
      name: 'Shop status',
      url: `shop-${++pages}`,
      cards: [{ name: 'All', services: ['web', 'jobs'] }],
    },
  ],
  maintenanceWindows: [
    {
      id: 'release',
      startsAt: '2030-01-01',
      endsAt: '2030-01-02 12:00:00',
      repeatUnit: 'WEEK',
      repeatInterval: 1,
    },
  ],
});

function checkFile(content: object) {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = folder.file('checks.json');
  const write = (next: object): void => writeFileSync(path, JSON.stringify(next, null, 2));
  write(content);
  return { path, write };
}

describe('vedette apply with channels, groups, heartbeats, windows and status pages', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env: Readonly<Record<string, string>> = {};

  beforeEach(async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ci', role: 'write' });
    env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
  });

  it('creates entries that name each other in one run, and then changes nothing', async () => {
    const { mine } = service();
    const file = checkFile(whole());
    const first = await runHere(['apply', file.path], env);
    expect(first).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        '+ create alert channel ops',
        '+ create alert channel chat',
        '+ create group shop',
        '+ create heartbeat backup',
        '+ create status service web',
        '+ create status service jobs',
        '+ create status page main',
        '+ create maintenance window release',
        '+ create home (TCP)',
        '',
        '1 check created, 2 alert channels created, 1 group created, 1 heartbeat created, 2 status services created, 1 status page created, 1 maintenance window created',
        '',
      ].join('\n'),
    });
    const [group] = (await mine.get('/v1/check-groups')).json;
    const [email, chat] = (await mine.get('/v1/alert-channels')).json;
    const [web, jobs] = (await mine.get('/v1/status-pages/services')).json;
    expect((await mine.get('/v1/checks/home')).json).toMatchObject({
      groupId: group.id,
      alertChannelSubscriptions: [{ alertChannelId: email.id }, { alertChannelId: chat.id }],
      triggerIncident: { serviceId: web.id },
    });
    expect((await mine.get('/v1/checks/heartbeats/backup')).json).toMatchObject({
      groupId: group.id,
      alertChannelSubscriptions: [{ alertChannelId: email.id }],
      logicalId: 'backup',
    });
    expect(web).toMatchObject({ checkIds: ['home'], logicalId: 'web' });
    expect(jobs).toMatchObject({ heartbeatIds: ['backup'] });
    const [page] = (await mine.get('/v1/status-pages')).json;
    expect(page).toMatchObject({
      logicalId: 'main',
      cards: [{ name: 'All', services: [{ id: web.id }, { id: jobs.id, name: 'jobs' }] }],
    });

    const again = await runHere(['apply', file.path, '--prune'], env);
    expect(again).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'nothing to change\n  2 alert channels unchanged\n  1 group unchanged\n  1 heartbeat unchanged\n  2 status services unchanged\n  1 status page unchanged\n  1 maintenance window unchanged\n  1 check unchanged\n',
    });
  });

  it('writes the escalation of the account with the channels of the file, and leaves it if the file has none', async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'all', role: 'admin' });
    const admin = { ...env, API_KEY: key };
    const escalationStep = { minutes: 15, alertChannelIds: ['ops'] };
    const { alertChannels } = whole();
    const file = checkFile({ escalationStep, alertChannels });
    const step = async () =>
      (await mine.get(`/v1/accounts/${mine.accountId}/alert-settings`)).json.escalationStep;
    const refused = await runHere(['apply', file.path], env);
    expect([refused.code, await step()]).toEqual([2, null]);
    expect(refused.stderr).toContain('admin');
    expect(refused.stdout).toContain('stopped early: 2 alert channels created');
    const planned = await runHere(['apply', file.path, '--dry-run', '--exit-code'], admin);
    expect(planned.code).toBe(4);
    expect(planned.stdout).toContain('~ update the escalation of the account\n    escalationStep');
    const first = await runHere(['apply', file.path], admin);
    expect(first.stdout).toContain('the escalation updated');
    const [ops] = (await mine.get('/v1/alert-channels')).json;
    expect(await step()).toEqual({ minutes: 15, alertChannelIds: [ops.id] });
    const again = await runHere(['apply', file.path], admin);
    expect(again.stdout).toMatch(/^nothing to change\n/);
    const twice = { ...escalationStep, alertChannelIds: ['ops', ops.id] };
    file.write({ escalationStep: twice, alertChannels });
    const same = await runHere(['apply', file.path], admin);
    expect(same.stdout, same.stderr).toMatch(/^nothing to change\n/);
    file.write({ alertChannels });
    await runHere(['apply', file.path], admin);
    expect(await step()).toMatchObject({ minutes: 15 });
    file.write({ escalationStep: null, alertChannels });
    await runHere(['apply', file.path], admin);
    expect(await step()).toBeNull();
  });

  it('also reports refused entries if the key may not change the escalation', async () => {
    const { alertChannels } = whole();
    const { path } = checkFile({
      escalationStep: { minutes: 15, alertChannelIds: ['ops'] },
      alertChannels,
      checks: [{ id: 'home', ...TCP, privateLocations: ['nowhere'] }],
    });
    const { code, stdout, stderr } = await runHere(['apply', path], env);
    expect(code).toBe(2);
    expect(stdout).toContain('stopped early: 2 alert channels created');
    expect(stderr).toMatch(/: check "home" is refused \(4\d\d\): .*nowhere/);
    expect(stderr).toContain('the role admin');
  });

  it('finds channels by their names, in the file and at the service, and refuses unknown names', async () => {
    const { mine } = service();
    const { json: byHand } = await mine.post('/v1/alert-channels', {
      type: 'SMS',
      config: { name: 'On call', number: '+4915112345678' },
    });
    const named = (...names: readonly string[]) => ({
      alertChannelSubscriptions: names.map((alertChannelName) => ({ alertChannelName })),
    });
    const [ops] = whole().alertChannels;
    const file = checkFile({
      alertChannels: [{ ...ops, subscribeAll: true }],
      heartbeats: [{ id: 'backup', heartbeat: RHYTHM, ...named('On call') }],
      checks: [
        { id: 'home', ...TCP, ...named('On call', 'ops@example.com') },
        { id: 'cart', ...TCP, ...named('Of call') },
      ],
    });
    const first = await runHere(['apply', file.path], env);
    expect(first.code).toBe(1);
    expect(first.stderr).toContain(
      'check "cart" names the alert channel "Of call", which neither the file nor the service has; did you mean "On call"?',
    );
    const channels = (await mine.get('/v1/alert-channels')).json;
    const email = channels.find(({ type }: { type: string }) => type === 'EMAIL');
    expect(email.subscribeAll).toBe(true);
    const subscriptionsOf = async (path: string) =>
      (await mine.get(path)).json.alertChannelSubscriptions.map(
        ({ alertChannelId }: { alertChannelId: number }) => alertChannelId,
      );
    expect(await subscriptionsOf('/v1/checks/home')).toEqual([byHand.id, email.id]);
    expect(await subscriptionsOf('/v1/checks/heartbeats/backup')).toEqual([byHand.id]);
    expect((await mine.get('/v1/checks/cart')).status).toBe(404);
    const again = await runHere(['apply', file.path], env);
    expect(again.stdout).toContain('1 alert channel unchanged');
    expect(again.stdout).toContain('1 heartbeat unchanged');
    expect(again.stdout).toContain('1 check unchanged');
  });

  it('gives checks and heartbeats with an empty list no channel, and new ones without a list every channel', async () => {
    const { mine } = service();
    const config = { name: 'On call', number: '+4915112345678' };
    await mine.post('/v1/alert-channels', { type: 'SMS', config });
    const none = { alertChannelSubscriptions: [] };
    const content = (fields: object) => ({
      alertChannels: whole().alertChannels,
      heartbeats: [{ id: 'backup', heartbeat: RHYTHM, ...fields }],
      checks: [
        { id: 'home', ...TCP, ...fields },
        { id: 'cart', ...TCP },
      ],
    });
    const counts = async () => {
      const paths = ['/v1/checks/heartbeats/backup', '/v1/checks/home', '/v1/checks/cart'];
      const replies = await Promise.all(paths.map((path) => mine.get(path)));
      return replies.map(({ json }) => json.alertChannelSubscriptions.length);
    };
    const file = checkFile(content(none));
    const apply = (...flags: readonly string[]) => runHere(['apply', file.path, ...flags], env);
    expect(await apply()).toMatchObject({ code: 0, stderr: '' });
    expect(await counts()).toEqual([0, 0, 3]);
    file.write(content({}));
    expect((await apply()).stdout).toMatch(/^nothing to change\n/);
    file.write(content({ alertChannelSubscriptions: [{ alertChannelId: 'ops' }] }));
    expect(await apply()).toMatchObject({ code: 0, stderr: '' });
    expect(await counts()).toEqual([1, 1, 3]);

    file.write({ ...content({}), defaults: none });
    const planned = await apply('--dry-run');
    expect(planned.stdout).toContain(
      '~ update home (TCP)\n    alertChannelSubscriptions[0]  {"alertChannelId":"ops","activated":true} -> (none)\n',
    );
    expect(planned.stdout).toContain('  1 heartbeat unchanged\n');
    expect(await apply()).toMatchObject({ code: 0, stderr: '' });
    expect(await counts()).toEqual([1, 0, 0]);
    file.write(content(none));
    expect((await apply()).stdout).toContain('1 heartbeat updated');
    expect(await counts()).toEqual([0, 0, 0]);
    expect((await apply()).stdout).toMatch(/^nothing to change\n/);
  });

  it('refuses a new heartbeat whose id is a path of the API, also with --dry-run', async () => {
    const { path } = checkFile({ heartbeats: [{ id: 'tcp', heartbeat: RHYTHM }] });
    for (const flags of [['--dry-run', '--exit-code'], []]) {
      const { code, stdout, stderr } = await runHere(['apply', path, ...flags], env);
      expect(code).toBe(1);
      expect(stdout).not.toContain('create heartbeat');
      expect(stderr).toMatch(
        /: heartbeat "tcp" cannot be created: a service refuses .*tcp-check\n$/,
      );
    }
  });

  it('writes checks after those that they depend on, also where the file has them in the opposite order', async () => {
    const named = (id: string, ...dependsOn: readonly string[]) => ({ id, ...TCP, dependsOn });
    const dependsOn = async (id: string) =>
      (await service().mine.get(`/v1/checks/${id}`)).json.dependsOn;
    const checks = [named('shop', 'proxy'), named('proxy', 'switch'), named('switch')];
    const file = checkFile({ checks });
    expect(await runHere(['apply', file.path], env)).toMatchObject({ code: 0, stderr: '' });
    expect([await dependsOn('shop'), await dependsOn('proxy')]).toEqual([['proxy'], ['switch']]);
    file.write({ checks: [named('shop'), named('proxy', 'shop'), named('switch', 'proxy')] });
    expect(await runHere(['apply', file.path], env)).toMatchObject({ code: 0, stderr: '' });
    expect([await dependsOn('shop'), await dependsOn('switch')]).toEqual([[], ['proxy']]);
  });

  it('counts resources of several sections that have the same id', async () => {
    const id = 'shop';
    const { path } = checkFile({
      groups: [{ id, name: 'Shop' }],
      heartbeats: [{ id, heartbeat: RHYTHM }],
      statusServices: [{ id }],
      statusPages: [
        { id, name: 'Shop', url: `shop-${++pages}`, cards: [{ name: 'All', services: [id] }] },
      ],
      checks: [{ id: 'home', ...TCP }],
    });
    const { stdout, stderr } = await runHere(['apply', path], env);
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n').at(-1)).toBe(
      '1 check created, 1 group created, 1 heartbeat created, 1 status service created, 1 status page created',
    );
  });

  it('changes only the fields that differ, shows them, and hides the path of a hook', async () => {
    const { mine } = service();
    const content = whole();
    const file = checkFile(content);
    await runHere(['apply', file.path], env);
    const [{ id }] = (await mine.get('/v1/status-pages')).json;
    const [{ id: card }] = (await mine.get(`/v1/status-pages/${id}`)).json.cards;
    const [email, chat] = content.alertChannels;
    file.write({
      ...content,
      alertChannels: [email, { ...chat, config: { url: 'https://chat.example/hooks/0ther' } }],
      statusServices: [...content.statusServices, { id: 'mail' }],
      statusPages: content.statusPages.map((page) => ({
        ...page,
        name: 'Status',
        cards: [{ name: 'All', services: ['mail', 'web'] }],
      })),
      maintenanceWindows: content.maintenanceWindows.map((window) => ({
        ...window,
        endsAt: '2030-01-02',
      })),
      checks: content.checks.map((check) => ({ ...check, groupId: null })),
    });
    const planned = await runHere(['apply', file.path, '--dry-run'], env);
    const { stdout } = await runHere(['apply', file.path], env);
    expect(stdout.split('\n\n')[0]).toBe(planned.stdout.split('\n\n')[0]);
    expect(stdout.replace(/ +/g, ' ')).toMatchInlineSnapshot(`
      "~ update alert channel chat
       config.url "https://chat.example/********" (another one)
      + create status service mail
      ~ update status page main
       name "Shop status" -> "Status"
       cards[0].services ["web","jobs"] -> ["mail","web"]
      ~ update maintenance window release
       endsAt "2030-01-02T12:00:00.000Z" -> "2030-01-02T00:00:00.000Z"
      ~ update home (TCP)
       groupId "shop" -> null
       1 alert channel unchanged
       1 group unchanged
       1 heartbeat unchanged
       2 status services unchanged

      1 check updated, 1 alert channel updated, 1 status service created, 1 status page updated, 1 maintenance window updated
      "
    `);
    expect((await mine.get(`/v1/status-pages/${id}`)).json).toMatchObject({
      name: 'Status',
      cards: [{ id: card, services: [{ name: 'mail' }, { name: 'Web shop' }] }],
    });
    expect((await runHere(['apply', file.path], env)).stdout).toMatch(/^nothing to change\n/);
  });

  it('deletes with --prune entries that left the file, in a possible order, and nothing that no file made', async () => {
    const { mine } = service();
    const { json: foreign } = await mine.post('/v1/status-pages/services', { name: 'By hand' });
    await mine.post('/v1/check-groups', { name: 'By hand' });
    await mine.put('/v1/checks/heartbeats/by-hand', { heartbeat: RHYTHM });
    const file = checkFile(whole());
    await runHere(['apply', file.path], env);
    file.write({ checks: [{ id: 'other', ...TCP }] });
    const kept = await runHere(['apply', file.path], env);
    expect(kept.stdout).not.toContain('delete ');
    expect(kept.stdout).toContain(
      '  2 status services from a file are no longer in it; --prune deletes them\n',
    );
    const { stdout, stderr } = await runHere(['apply', file.path, '--prune'], env);
    expect({ stdout, stderr }).toMatchInlineSnapshot(`
      {
        "stderr": "",
        "stdout": "- delete home (TCP)
      - delete maintenance window release
      - delete status page main
      - delete status service web
      - delete status service jobs
      - delete heartbeat backup
      - delete group shop
      - delete alert channel ops
      - delete alert channel chat
        1 check unchanged

      will delete 1 check with its results, 2 alert channels, 1 group, 1 heartbeat, 2 status services, 1 status page, 1 maintenance window

      1 check deleted, 2 alert channels deleted, 1 group deleted, 1 heartbeat deleted, 2 status services deleted, 1 status page deleted, 1 maintenance window deleted
      ",
      }
    `);
    expect((await mine.get('/v1/status-pages')).json).toEqual([]);
    expect((await mine.get('/v1/alert-channels')).json).toEqual([]);
    expect((await mine.get('/v1/maintenance-windows')).json).toEqual([]);
    expect((await mine.get('/v1/status-pages/services')).json).toEqual([foreign]);
    expect((await mine.get('/v1/check-groups')).json).toMatchObject([{ name: 'By hand' }]);
    expect((await mine.get('/v1/checks/heartbeats')).json).toMatchObject([{ id: 'by-hand' }]);
  });

  it('goes on after a refused entry, says what needed it, and completes the rest the next time', async () => {
    const { mine } = service();
    const content = whole();
    const [page] = content.statusPages;
    await mine.post('/v1/status-pages', { name: 'Taken', url: page?.url });
    const file = checkFile(content);
    const first = await runHere(['apply', file.path], env);
    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(
      /^\S+checks\.json:\d+: status page "main" is refused \(409\): There is a status page with the url shop-\d+ already\n$/,
    );
    file.write({ ...content, statusPages: [{ ...page, url: `${page?.url}-b` }] });
    const second = await runHere(['apply', file.path], env);
    expect(second.stdout).toContain('1 status page created\n');
    expect(second.stdout).toContain('  2 status services unchanged\n');
  });

  it('takes 300 services, and changes nothing the second time', async () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ id: `s${n}`, name: `Service ${n}` }));
    const cards = [0, 1, 2].map((n) => ({
      name: `Card ${n}`,
      services: many.slice(n * 100, n * 100 + 100).map(({ id }) => id),
    }));
    const file = checkFile({
      checks: [{ id: 'home', ...TCP }],
      statusServices: many,
      statusPages: [{ id: 'main', url: 'many', cards }],
    });
    const first = await runHere(['apply', file.path], env);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('300 status services created, 1 status page created\n');
    expect((await runHere(['apply', file.path], env)).stdout).toContain(
      '300 status services unchanged',
    );
  });

  it('writes the secrets of a webhook only where they differ from those of the service', async () => {
    const hook = (webhookSecret: string, token: string) => ({
      checks: [{ id: 'home', ...TCP }],
      alertChannels: [
        {
          id: 'hook',
          type: 'WEBHOOK',
          config: {
            name: 'Hook',
            url: 'https://hooks.example/a',
            headers: [{ key: 'x-token', value: token, locked: true }],
            webhookSecret,
          },
        },
      ],
    });
    const file = checkFile(hook('first-key', 'first-token'));
    expect((await runHere(['apply', file.path], env)).code).toBe(0);
    const same = await runHere(['apply', file.path], env);
    expect(same.stdout).toMatch(/^nothing to change\n {2}1 alert channel unchanged\n/);

    file.write(hook('other-key', 'first-token'));
    const changed = await runHere(['apply', file.path], env);
    expect(changed.stdout).toContain('1 alert channel written again\n');
    expect(changed.stdout + changed.stderr).not.toMatch(/first-|other-/);
    expect((await runHere(['apply', file.path], env)).stdout).toMatch(/^nothing to change\n/);

    const { mine } = service();
    const [{ id, config }] = (await mine.get('/v1/alert-channels')).json;
    const { hasWebhookSecret: _, ...rest } = config;
    await mine.patch(`/v1/alert-channels/${id}`, { config: { ...rest, webhookSecret: 'by-hand' } });
    const drifted = await runHere(['apply', file.path, '--dry-run'], env);
    expect(drifted.stdout).toContain('~ update alert channel hook\n');
  });

  it('compares the secrets of channels to services in the same way', async () => {
    const pager = (routingKey: string, token: string | null) => ({
      checks: [{ id: 'home', ...TCP }],
      alertChannels: [
        { id: 'pager', type: 'PAGERDUTY', config: { routingKey } },
        { id: 'phone', type: 'NTFY', config: { topic: 'hidden-topic', token } },
      ],
    });
    const file = checkFile(pager('first-key', null));
    expect((await runHere(['apply', file.path], env)).code).toBe(0);
    const same = await runHere(['apply', file.path], env);
    expect(same.stdout).toMatch(/^nothing to change\n {2}2 alert channels unchanged\n/);
    file.write(pager('other-key', 'other-token'));
    const changed = await runHere(['apply', file.path], env);
    expect(changed.code, changed.stderr).toBe(0);
    expect(changed.stdout + changed.stderr).not.toMatch(/first-|other-|hidden-/);
    expect((await runHere(['apply', file.path], env)).stdout).toMatch(/^nothing to change\n/);
  });

  it('plans with a key that may only read, and says that it cannot compare secrets', async () => {
    const { features, mine } = service();
    const keyOf = async (role: 'read' | 'admin') => {
      const { key } = await features.apiKeys.create(mine.accountId, { name: role, role });
      return { ...env, API_KEY: key };
    };
    const [reader, admin] = [await keyOf('read'), await keyOf('admin')];
    const base = whole();
    const content = (hook: string, secret: string, more: object = {}) => ({
      ...base,
      escalationStep: { minutes: 15, alertChannelIds: ['mail'] },
      variables: [{ key: 'TOKEN', value: `variable-${secret}`, secret: true }],
      alertChannels: [
        { id: 'mail', type: 'EMAIL', config: { address: 'mail@example.com' } },
        ...base.alertChannels,
        { id: 'slack', type: 'SLACK', config: { url: `${hook}/slack-${secret}` } },
        { id: 'pager', type: 'PAGERDUTY', config: { routingKey: `pager-${secret}` } },
        { id: 'phone', type: 'NTFY', config: { topic: `topic-${secret}` } },
        {
          id: 'hook',
          type: 'WEBHOOK',
          config: {
            ...{ name: 'Hook', url: `${hook}/${secret}`, webhookSecret: `key-${secret}` },
            headers: [{ key: 'authorization', value: secret }],
            queryParameters: [{ key: 'q', value: secret, locked: true }],
            ...more,
          },
        },
      ],
    });
    const file = checkFile(content('https://chat.example', 's3cret-1'));
    const plan = ['apply', file.path, '--dry-run', '--exit-code'];
    const before = await runHere(plan, reader);
    expect(before.code, before.stderr).toBe(4);
    expect(before.stdout).toContain('7 alert channels to create');
    expect((await runHere(['apply', file.path], admin)).code).toBe(0);

    const same = await runHere(plan, reader);
    expect(same.code, same.stdout).toBe(0);
    expect(same.stderr).toBe('');
    const note =
      '  5 alert channels seem unchanged: a key with the role read cannot compare the secrets of them\n';
    expect(same.stdout).toContain(note);
    expect(same.stdout).toContain('  2 alert channels unchanged\n');
    // Guesses of secrets have the same answer: a key that may read learns nothing about them.
    file.write(content('https://chat.example', 'guess-2'));
    expect((await runHere(plan, reader)).stdout).toBe(same.stdout);
    file.write(content('https://other.example', 's3cret-1', { name: 'Other' }));
    const moved = await runHere(plan, reader);
    expect(moved.code, moved.stderr).toBe(4);
    expect(moved.stdout).toContain('~ update alert channel slack\n    config.url  "https://chat');
    expect(moved.stdout).toContain('"Hook" -> "Other"');
    expect(moved.stdout).not.toMatch(/s3cret|guess/);

    const refused = await runHere(['apply', file.path], reader);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('use a key with the role write');
  });

  it('does not overwrite what somebody else changed after the plan was made', async () => {
    const { mine } = service();
    const content = whole();
    const file = checkFile(content);
    await runHere(['apply', file.path], env);
    const [page] = (await mine.get('/v1/status-pages')).json;
    file.write({
      ...content,
      statusPages: content.statusPages.map((one) => ({ ...one, description: 'From the file' })),
    });
    const client = clientOf(env);
    const { signal } = new AbortController();
    const plan = await planOf(file.path, client);
    await mine.patch(`/v1/status-pages/${page.id}`, { name: 'By hand' });
    const done = noChanges();
    const refusals = await writePlan(plan, { client, signal, done });
    expect(refusals).toMatchObject([
      {
        kind: 'statusPages',
        id: 'main',
        reasons: [expect.stringMatching(/changed at the service/)],
      },
    ]);
    expect(done.resources).toEqual([]);
    const after = (await mine.get(`/v1/status-pages/${page.id}`)).json;
    expect(after).toMatchObject({ name: 'By hand', description: null });
  });

  it('completes its changes after a lost answer, and makes nothing twice', async () => {
    const { mine } = service();
    const file = checkFile(whole());
    const client = clientOf(env);
    const { signal } = new AbortController();
    const plan = await planOf(file.path, client);
    const losing: Pick<ApiClient, 'get' | 'send'> = {
      get: (path, given) => client.get(path, given),
      async send(method, path, options) {
        const reply = await client.send(method, path, options);
        if (path !== '/v1/check-groups') return reply;
        throw new VedetteError('environment', 'SERVICE_UNREACHABLE', 'the answer is lost');
      },
    };
    const done = noChanges();
    await expect(writePlan(plan, { client: losing, signal, done })).rejects.toThrow(/is lost/);
    expect(done.resources.map(({ id }) => id)).not.toContain('shop');

    const second = await runHere(['apply', file.path], env);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).not.toContain('create group');
    expect((await mine.get('/v1/check-groups')).json).toMatchObject([{ logicalId: 'shop' }]);
    expect((await mine.get('/v1/status-pages/services')).json).toHaveLength(2);
    expect((await runHere(['apply', file.path], env)).stdout).toMatch(/^nothing to change\n/);
  });
});

function clientOf(env: Readonly<Record<string, string>>): ApiClient {
  const client = new ApiClient({
    serviceUrl: new URL(String(env.SERVICE_URL)),
    apiKey: String(env.API_KEY),
    clock: systemClock,
    onWait: () => {},
  });
  onTestFinished(() => client.close());
  return client;
}

async function planOf(path: string, client: ApiClient): Promise<ApplyPlan> {
  const { checks, name: fileName, ...content } = await loadCheckFile(path);
  const request: PlanRequest = {
    ...content,
    fileName,
    checks: checks.map((check) => ({ ...check, privateLocations: ['office'] })),
    unlistedActionOf: () => 'keep',
    unlistedResourceOf: () => 'keep',
  };
  return makePlan(request, client, new AbortController().signal);
}
