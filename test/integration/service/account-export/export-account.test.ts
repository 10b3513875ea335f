import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ALERT_CHANNEL_TYPES } from '../../../../src/model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
} from '../../../../src/model/alerting/service-channels.ts';
import { secretFieldsOf } from '../../../../src/model/alerting/service-targets.ts';
import { exportAccount } from '../../../../src/service/account-export/export-account.ts';
import { PLACEHOLDER } from '../../../../src/service/account-export/placeholders.ts';
import { runHere } from '../../../support/agent/cli.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import {
  type Client,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const SECRET = 'hunter2';
const SCRIPT = 'if (true) {\n  signIn("a: b");\n}\n';
const RHYTHM = { period: 1, periodUnit: 'DAYS', grace: 2, graceUnit: 'HOURS' };
/** One of each type besides EMAIL and WEBHOOK, and one without its optional secret. */
const CHANNELS = [
  { type: 'SLACK', config: { url: 'https://hooks.slack.example/1' } },
  { type: 'SMS', config: { number: '+4915112345678', name: 'Ann' } },
  ...SERVICE_CHANNEL_TYPES.map((type) => {
    const secrets = secretFieldsOf(type).map((field) => [field, SECRET] as const);
    return { type, config: { ...SERVICE_CHANNELS[type].sample, ...Object.fromEntries(secrets) } };
  }),
  { type: 'NTFY', config: { name: 'Open', topic: 'open-7f3a' } },
];
const CHANNEL_SECRETS = SERVICE_CHANNEL_TYPES.flatMap(secretFieldsOf);
const TCP = { checkType: 'TCP', request: { hostname: 'a.example', port: 80 } };

describe('the export of an account as a check file', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);

  /** Writes the file, and applies it to the account. */
  async function applyTo(account: Client, text: string) {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const path = folder.file('account.yaml');
    writeFileSync(path, text);
    const { key } = await service().features.apiKeys.create(account.accountId, {
      name: 'ci',
      role: 'admin',
    });
    const env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    return {
      validate: () => runHere(['validate', path], env),
      apply: () => runHere(['apply', path], env),
    };
  }
  const made = async (client: Client, path: string, body: object) => {
    const reply = await client.post(path, body);
    expect(reply.status, reply.text).toBe(201);
    return reply.json;
  };
  const addLocation = (client: Client) =>
    made(client, '/v1/private-locations', { slug: 'office', name: 'Office' });
  const put = async (client: Client, path: string, body: object) => {
    const reply = await client.put(path, body);
    expect(reply.status, reply.text).toBe(200);
  };
  const exported = ({ accountId }: Client) => exportAccount(service().features, accountId);

  /** One resource of each kind, with secrets, without ids of a file. Returns the id of its page. */
  async function fill(client: Client): Promise<string> {
    await addLocation(client);
    await made(client, '/v1/variables', { key: 'PLAIN', value: 'a: "b" # {c}\nd', locked: true });
    await made(client, '/v1/variables', { key: 'TOKEN', value: SECRET, secret: true });
    const login = await made(client, '/v1/snippets', { name: 'login', script: SCRIPT });
    const email = await made(client, '/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    await made(client, '/v1/alert-channels', {
      type: 'WEBHOOK',
      sendDegraded: true,
      config: {
        name: 'Pager duty',
        url: 'https://pager.example/hook',
        headers: [{ key: 'x-token', value: SECRET, locked: true }],
        webhookSecret: SECRET,
      },
    });
    for (const channel of CHANNELS) await made(client, '/v1/alert-channels', channel);
    await put(client, `/v1/accounts/${client.accountId}/alert-settings`, {
      escalationStep: { minutes: 15, alertChannelIds: [email.id] },
    });
    const group = await made(client, '/v1/check-groups', {
      name: 'Web shop (EU)',
      tags: ['shop'],
      alertSettings: {},
      teardownSnippetId: login.id,
    });
    const web = await made(client, '/v1/status-pages/services', { name: 'Web', checkTags: ['x'] });
    await put(client, '/v1/checks/api/shop-home?autoAssignAlerts=false', {
      name: 'Home: "front"',
      description: 'two\nlines',
      tags: ['on', '1'],
      groupId: group.id,
      privateLocations: ['office'],
      alertChannelSubscriptions: [{ alertChannelId: email.id }],
      triggerIncident: { serviceId: web.id, severity: 'MAJOR', name: 'The shop is down' },
      setupSnippetId: login.id,
      retryStrategy: { type: 'LINEAR', baseBackoffSeconds: 2, maxRetries: 2 },
      request: {
        url: `https://user:${SECRET}@a.example/?q={{PLAIN}}`,
        method: 'POST',
        headers: [{ key: 'authorization', value: `Bearer ${SECRET}` }],
        assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '201' }],
      },
      variables: [{ key: 'OWN', value: SECRET, secret: true }],
    });
    // Nobody is notified of it.
    await put(client, '/v1/checks/tcp/quiet?autoAssignAlerts=false', {
      name: 'Quiet',
      privateLocations: ['office'],
      dependsOn: ['shop-home'],
      request: TCP.request,
    });
    await put(client, '/v1/checks/heartbeats/backup?autoAssignAlerts=false', {
      name: 'Backup',
      groupId: group.id,
      alertChannelSubscriptions: [{ alertChannelId: email.id, activated: false }],
      heartbeat: RHYTHM,
    });
    const jobs = await made(client, '/v1/status-pages/services', {
      name: 'Jobs',
      checkIds: ['quiet', 'shop-home'],
      heartbeatIds: ['backup'],
    });
    const page = await made(client, '/v1/status-pages', {
      name: 'Status',
      url: `export-${client.accountId.slice(0, 8)}`,
      isPrivate: true,
      password: 'a password of the page',
      cards: [{ name: 'All', services: [jobs.id, web.id] }],
    });
    await made(client, '/v1/maintenance-windows', {
      name: 'Release',
      startsAt: '2030-01-01',
      endsAt: '2030-01-02 12:00:00',
      repeatUnit: 'WEEK',
      repeatInterval: 1,
      tags: ['shop'],
    });
    return page.id;
  }

  it('is valid, and becomes the same file again after it was applied to another account', async () => {
    const { mine, theirs } = service();
    const pageId = await fill(mine);
    const first = await exported(mine);
    expect(await exported(mine)).toEqual(first);
    // No two pages of a service have the same url.
    expect((await mine.delete(`/v1/status-pages/${pageId}`)).status).toBe(204);
    await addLocation(theirs);
    const file = await applyTo(theirs, first.text);
    expect(await file.validate()).toMatchObject({ code: 0, stderr: '' });
    const applied = await file.apply();
    expect(applied.code, applied.stderr).toBe(0);
    expect((await exported(theirs)).text).toBe(first.text);
    // Secret values are written again each time: nothing else is.
    const again = await file.apply();
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).not.toMatch(/^[+-] /m);
    expect((await exported(theirs)).text).toBe(first.text);
  });

  it('has ids derived from names, no defaults, placeholders for secrets, and notes on what it lacks', async () => {
    const { mine } = service();
    await fill(mine);
    const { text, missing } = await exported(mine);
    expect(text).not.toContain(SECRET);
    expect(text.match(new RegExp(`${PLACEHOLDER}.*# put the value here`, 'g'))).toHaveLength(
      6 + CHANNEL_SECRETS.length,
    );
    for (const type of ALERT_CHANNEL_TYPES) expect(text).toContain(`    type: ${type}\n`);
    for (const part of [
      '  - id: ops-example-com\n',
      '  - id: pager-duty\n',
      'escalationStep:\n  minutes: 15\n  alertChannelIds:\n    - ops-example-com\n',
      '  - id: web-shop-eu\n',
      '    groupId: web-shop-eu\n',
      '      - alertChannelId: ops-example-com\n        activated: false\n',
      '    alertChannelSubscriptions: []\n',
      '      serviceId: web\n',
    ]) {
      expect(text).toContain(part);
    }
    // No other account has the snippet.
    expect(text.split('signIn("a: b");')).toHaveLength(3);
    for (const absent of ['pingToken', 'logicalId', 'created_at', 'doubleCheck', 'SnippetId']) {
      expect(text).not.toContain(absent);
    }
    const said = missing.join('\n');
    for (const name of ['TOKEN', 'PLAIN', 'shop-home', 'pager-duty', 'office', 'login', 'backup']) {
      expect(said).toContain(name);
    }
    expect(said).toMatch(/^Secrets of alert channels.*alertmanager.*gotify.*pager-duty/m);
    expect(said).toContain('Passwords of status pages: Status');
    expect(said).not.toContain('does not accept');
  });

  it('applies twice without a change where nothing is secret', async () => {
    const { mine, theirs } = service();
    await addLocation(mine);
    await addLocation(theirs);
    const config = { number: '+4915112345678', name: 'Ann' };
    await made(mine, '/v1/alert-channels', { type: 'SMS', config });
    for (const id of ['b', 'a']) {
      const body = { name: id, privateLocations: ['office'], request: TCP.request };
      await put(mine, `/v1/checks/tcp/${id}?autoAssignAlerts=false`, body);
    }
    const file = await applyTo(theirs, (await exported(mine)).text);
    expect((await file.apply()).stdout).toContain('2 checks created');
    expect((await file.apply()).stdout).toMatch(/^nothing to change\n/);
  });

  it('is refused for an account without anything that a file can contain', async () => {
    const { mine } = service();
    await made(mine, '/v1/variables', { key: 'A', value: 'b' });
    await expect(exported(mine)).rejects.toThrow(/nothing to export/);
  });
});
