import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../support/agent/cli.ts';
import {
  childrenOf,
  isRunning,
  modesIn,
  okTarget,
  upFixture,
} from '../support/agent/up-fixture.ts';
import { ROOT } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';
import { hookServer } from '../support/servers/hook-server.ts';
import { until } from '../support/service/deployment.ts';
import { askService } from '../support/service/service-app.ts';

const daily = (id: string, url: string, fields: object = {}) => ({
  id,
  checkType: 'URL',
  frequency: 1440,
  request: { url },
  ...fields,
});

/** The address of the API and its key, from the greeting. */
function greetingIn(text: string): { readonly port: number; readonly key: string } {
  return {
    port: Number(/API +http:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1]),
    key: /Bearer (vk_[0-9a-f]{32})'/.exec(text)?.[1] ?? '',
  };
}

/** The link that signs in, from the greeting. */
function signInUrlIn(text: string): string {
  return / {2}Sign in +(http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{43}) /.exec(text)?.[1] ?? '';
}

/** A port of TCP that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function pidOf(cli: { readonly child: { readonly pid?: number | undefined } }): number {
  if (cli.child.pid === undefined) throw new Error('it did not start');
  return cli.child.pid;
}

/** Each start is three processes and a database, on a possibly busy machine. */
const LIMIT = { timeout: 300_000 };

describe('vedette up', LIMIT, () => {
  it('vedette up runs every check at once, follows the file and saves its results for the next start', async () => {
    const url = await okTarget();
    const fixture = upFixture(daily('shop', url), daily('off', url, { activated: false }));
    // Another program's variable, which `up` must not read.
    const env = { API_KEY: 'k', SERVICE_URL: 'u', API_KEY_FILE: '/k', DATA_DIR: '/d' };
    const cli = fixture.start(env);
    const text = await cli.seen('stdout', /PASS {4}shop/);
    expect(text).toContain('runs 1 check of ');
    expect(text).toContain('(1 more is not activated).');
    const { port, key } = greetingIn(text);
    const signInUrl = signInUrlIn(text);
    expect(await (await fetch(signInUrl)).text()).toContain('<form method="post">');
    const send = () => fetch(signInUrl, { method: 'POST', redirect: 'manual' });
    const signedIn = await send();
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^vedette_session=/);
    expect((await send()).status).toBe(404);
    const session = await fetch(new URL('/v1/session', signInUrl), { headers: { cookie } });
    expect(await session.json()).toMatchObject({
      user: { email: 'admin@localhost' },
      accounts: [{ role: 'admin' }],
    });
    const ask = (path: string) => askService(port, path, { key });
    const agent = /Agent +(http:\S+\/health)/.exec(text)?.[1] ?? '';
    expect(await (await fetch(agent)).json()).toMatchObject({ state: 'running', checks: 1 });
    expect((await ask('/v1/private-locations')).json).toMatchObject([{ slug: 'local' }]);
    const curled = /curl .* http:\/\/[^/]+(\S+)/.exec(text)?.[1] ?? '';
    expect(curled).toBe('/v1/check-results/shop');
    // The agent has printed it; the service gets it a moment later.
    await until(
      () => ask('/v1/check-statuses/shop'),
      ({ json }) => json !== null,
    );
    expect((await ask(curled)).json).toMatchObject([{ name: 'shop', runLocation: 'local' }]);

    fixture.write(daily('new', url));
    await cli.seen('stdout', /PASS {4}new/);
    await cli.seen(
      'stderr',
      /checks\.yaml has changed: 1 check created, 1 check updated, deactivated\n/,
    );
    expect((await ask('/v1/checks/shop')).json.activated).toBe(false);

    expect(modesIn(fixture.data)).toEqual(
      new Map([
        ['.', 0o700],
        ['agent', 0o700],
        ['service', 0o700],
        ['up.json', 0o600],
      ]),
    );
    cli.child.kill('SIGTERM');
    const first = await cli.ended;
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/^First start: making a database in .*\n.* has changed: .*\n$/);
    expect(first.stdout).toMatch(/Ctrl-C again stops at once\.\n$/);

    const kept = readFileSync(join(fixture.data, 'up.json'), 'utf8');
    const again = fixture.start();
    const second = await again.seen('stdout', /PASS {4}new/);
    // The key is shown once; later a command in its place reads it.
    expect(second).toContain(`(its key vk_…${key.slice(-4)} is in `);
    expect(second).not.toContain(key);
    const [, reading = ''] = /Bearer (\$\(grep .*?\))"/.exec(second) ?? [];
    expect(execFileSync('sh', ['-c', `printf %s "${reading}"`], { encoding: 'utf8' })).toBe(key);
    // Each start prints another link, and only its own service knows it.
    const secondUrl = new URL(signInUrlIn(second));
    expect((await fetch(new URL(new URL(signInUrl).pathname, secondUrl))).status).toBe(404);
    expect((await fetch(secondUrl, { method: 'POST', redirect: 'manual' })).status).toBe(303);
    expect(readFileSync(join(fixture.data, 'up.json'), 'utf8')).toBe(kept);
    again.child.kill('SIGINT');
    expect(await again.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('vedette up --open opens a file that leads to the link, so that no command line shows the link', async () => {
    const fixture = upFixture(daily('shop', await okTarget()));
    fixture.makeDatabase();
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const opener = `#!/bin/sh\nprintf '%s' "$*" > '${folder.file('opened.new')}'\nmv '${folder.file('opened.new')}' '${folder.file('opened')}'\n`;
    writeFileSync(folder.file('xdg-open'), opener, { mode: 0o755 });
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    const cli = fixture.start(env, undefined, '--open');
    const url = signInUrlIn(await cli.seen('stdout', /PASS {4}shop/));
    await eventually(() => existsSync(folder.file('opened')));
    const opened = readFileSync(folder.file('opened'), 'utf8');
    expect(opened).toBe(join(fixture.data, 'open.html'));
    expect(readFileSync(opened, 'utf8')).toContain(`content="0;url=${url}"`);
    expect(modesIn(fixture.data).get('open.html')).toBe(0o600);
    cli.child.kill('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 0 });
    expect(existsSync(opened)).toBe(false);

    const without = fixture.start({ PATH: '' }, undefined, '--open');
    await without.seen(
      'stderr',
      /^vedette: the browser was not opened: xdg-open .* \(ENOENT\); .*\n$/,
    );
    await without.seen('stdout', /PASS {4}shop|Stop/);
    without.child.kill('SIGTERM');
    expect((await without.ended).code).toBe(0);
  });

  it.each([
    ['listens on all addresses', { HOST: '0.0.0.0' }],
    ['has a public address', { PUBLIC_URL: 'https://vedette.example.com' }],
  ])('vedette up prints no link that signs in where its service %s', async (_, env) => {
    const fixture = upFixture(daily('shop', await okTarget()));
    fixture.makeDatabase();
    const cli = fixture.start(env);
    const text = await cli.seen('stdout', /Stop/);
    expect(text).toMatch(/ {2}Sign in +https?:\S+\/setup\/[\w-]{43} {2}\(creates the first user; /);
    expect(text).not.toContain('/sign-in/');
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(0);
  });

  it('vedette up serves the status page of its file, keeps it as in the file, and deletes it with its entry alone', async () => {
    const url = await okTarget();
    const fixture = upFixture(daily('shop', url));
    fixture.makeDatabase();
    const page = { id: 'main', name: 'Shop status', url: 'shop', cards: [] as object[] };
    const write = (more: object): void =>
      fixture.writeAll({ checks: [daily('shop', url)], variables: [], ...more });
    write({
      statusServices: [{ id: 'web', name: 'Web shop', checkIds: ['shop'] }],
      statusPages: [{ ...page, cards: [{ name: 'All', services: ['web'] }] }],
    });
    const cli = fixture.start();
    const text = await cli.seen('stdout', /PASS {4}shop/);
    const address =
      / {2}Status page +(http:\/\/127\.0\.0\.1:\d+\/status\/shop)\n/.exec(text)?.[1] ?? '';
    const shown = await fetch(address);
    expect(shown.status).toBe(200);
    expect(await shown.text()).toContain('Web shop');
    const { port, key } = greetingIn(text);
    const foreign = { name: 'Of another file', url: 'other', logicalId: 'other' };
    await askService(port, '/v1/status-pages', { key, method: 'POST', body: foreign });

    write({ statusPages: [{ ...page, name: 'Renamed' }] });
    await cli.seen('stderr', /has changed: 1 status service deleted, 1 status page updated\n/);
    write({});
    await cli.seen('stderr', /has changed: 1 status page deleted\n/);
    const left = await askService(port, '/v1/status-pages', { key });
    expect(left.json).toMatchObject([{ logicalId: 'other' }]);
    cli.child.kill('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  it('vedette up says what it removed because the file of this start does not have it', async () => {
    const url = await okTarget();
    const fixture = upFixture();
    fixture.makeDatabase();
    fixture.writeAll({
      checks: [daily('shop', url)],
      variables: [],
      heartbeats: [
        { id: 'job', heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' } },
      ],
      statusServices: [{ id: 'web', name: 'Web shop', checkIds: ['shop'] }],
      statusPages: [{ id: 'main', name: 'Shop', url: 'shop', cards: [] }],
    });
    const first = fixture.start();
    expect(await first.seen('stdout', / {2}Stop/)).not.toContain('Removed');
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0 });
    fixture.write(daily('other', url));
    const second = fixture.start();
    expect(await second.seen('stdout', / {2}Stop/)).toMatch(
      / {2}Removed +1 check deactivated, 1 heartbeat deactivated, 1 status service deleted, 1 status page deleted, because the file no longer has them\n/,
    );
    second.child.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  it('vedette up runs vedette.yaml as npm start does: its checks pass, and its status page shows that', async () => {
    const fixture = upFixture();
    fixture.makeDatabase();
    // As README.md says of other ports.
    const port = String(await freePort());
    const sample = readFileSync(join(ROOT, 'vedette.yaml'), 'utf8');
    writeFileSync(fixture.file, sample.replaceAll('8081', port));
    const cli = fixture.start({ AGENT_HEALTH_PORT: port });
    const text = await cli.seen('stdout', / {2}Status page +\S+\n/);
    const address = / {2}Status page +(http:\S+\/status\/sample)\n/.exec(text)?.[1] ?? '';
    const page = await until(
      async () => (await fetch(address)).text(),
      (html) => html.includes('All services are operational'),
    );
    expect(page).toContain('Sample status page');
    expect(page).toContain('Network of this machine');
    expect(page).toContain('What the sample checks of vedette.yaml found.');
    cli.child.kill('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  it('vedette up records no missed slot from before its agent had the check', async () => {
    const url = await okTarget();
    // Spread over ten seconds: some slot is due while each check is being assigned.
    const often = Array.from({ length: 150 }, (_, index) => ({
      ...daily(`often-${index}`, url),
      checkType: 'API',
      frequency: 0,
      frequencyOffset: 10,
      request: { method: 'GET', url },
    }));
    const fixture = upFixture(...often);
    fixture.makeDatabase();
    // The checks have until the end of a lease, however slow this machine is.
    const cli = fixture.start({ LEASE_SECONDS: '600' });
    const text = await cli.seen('stdout', /Agent +http:/);
    const agent = /Agent +(http:\S+)\/health/.exec(text)?.[1] ?? '';
    await until(
      async () => JSON.parse(await (await fetch(`${agent}/health`)).text()).checks as number,
      (checks) => checks === often.length,
    );
    const metrics = await (await fetch(`${agent}/metrics`)).text();
    expect(metrics).toMatch(/vedette_missed_slots_total\{reason="unassigned"\} 0\n/);
    cli.child.kill('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  it('vedette up puts links to its own address into notifications, and prints which were sent', async () => {
    const hook = await hookServer();
    const fixture = upFixture();
    const nobody = `http://127.0.0.1:${await freePort()}/`;
    const failing = daily('shop', nobody, {
      alertChannelSubscriptions: [{ alertChannelId: 'mine' }, { alertChannelId: 'dead' }],
    });
    const config = { name: 'My hook', url: hook.url };
    const alertChannels = [
      { id: 'mine', type: 'WEBHOOK', config },
      { id: 'dead', type: 'WEBHOOK', config: { name: 'Dead hook', url: nobody } },
    ];
    fixture.writeAll({ checks: [failing], variables: [], alertChannels });
    fixture.makeDatabase();
    const cli = fixture.start();
    const { port } = greetingIn(await cli.seen('stdout', /Agent +http:/));
    await until(
      async () => hook.requests.length,
      (count) => count === 1,
    );
    const message = JSON.parse(hook.requests[0]?.body ?? '{}');
    const link = new RegExp(`^http://127\\.0\\.0\\.1:${port}/checks/shop/results/[\\w-]+$`);
    expect(message.RESULT_LINK).toMatch(link);
    expect((await fetch(message.RESULT_LINK)).status).toBe(200);
    await cli.seen('stdout', /SENT {4}to My hook \(WEBHOOK\) {2}shop has failed\n/);
    await cli.seen(
      'stdout',
      /UNSENT {2}to Dead hook \(WEBHOOK\) {2}shop has failed \(tried again\): .+\n/,
    );
    cli.child.kill('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  it('vedette up passes variables of the file and of its environment to checks, and follows the file', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.headers['x-token']} ${request.headers['x-own']}`);
      response.end('ok');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const check = {
      id: 'shop',
      checkType: 'API',
      frequency: 1440,
      request: {
        url: `http://127.0.0.1:${port}/`,
        headers: [
          { key: 'x-token', value: '{{TOKEN}}' },
          { key: 'x-own', value: '{{SHOP_TOKEN}}' },
        ],
      },
    };
    const write = (token: string): void =>
      fixture.writeAll({
        variables: [{ key: 'TOKEN', value: token, secret: true }],
        checks: [check],
      });
    const fixture = upFixture(check);
    fixture.makeDatabase();
    write('s3cret-1');
    const cli = fixture.start({ VARIABLES_FROM_ENV: 'SHOP_TOKEN', SHOP_TOKEN: 's3cret-own' });
    const text = await cli.seen('stdout', /PASS {4}shop/);
    const { port: apiPort, key } = greetingIn(text);
    write('s3cret-2');
    await cli.seen('stderr', /checks\.yaml has changed: 1 variable updated\n/);
    await cli.seen('stdout', /PASS {4}shop.*PASS {4}shop/s);
    expect(asked).toEqual(['s3cret-1 s3cret-own', 's3cret-2 s3cret-own']);
    const { json } = await askService(apiPort, '/v1/variables', { key });
    expect(json).toMatchObject([{ key: 'TOKEN', value: null, secret: true }]);
    cli.child.kill('SIGTERM');
    const { stdout, stderr } = await cli.ended;
    expect(stdout + stderr).not.toContain('s3cret');
  });

  it('vedette up restarts a process that ends, reports problems of the file and leaves no orphan', async () => {
    const fixture = upFixture(daily('shop', await okTarget()));
    fixture.makeDatabase();
    const cli = fixture.start();
    const { port, key } = greetingIn(await cli.seen('stdout', /PASS {4}shop/));
    const before = childrenOf(pidOf(cli));
    expect([...before.keys()]).toEqual(['service', 'agent']);
    process.kill(before.get('agent') ?? 0, 'SIGKILL');
    await cli.seen('stderr', /^vedette: the agent ended \(by SIGKILL\); .* again in 1 s$/m);
    process.kill(before.get('service') ?? 0, 'SIGKILL');
    await cli.seen('stderr', /^vedette: the service ended \(by SIGKILL\); .* again in 1 s$/m);
    fixture.write({ id: 'shop', checkType: 'URRL' });
    await cli.seen('stderr', /WARN .*checks\[0\]\.checkType of check .*did you mean URL/);

    // Changes while the service is away are applied when it is back.
    fixture.write(daily('late', await okTarget()));
    await cli.seen('stdout', /PASS {4}late/);
    expect((await askService(port, '/v1/checks/late', { key })).status).toBe(200);

    const after = [...childrenOf(pidOf(cli)).values()];
    expect(after).toHaveLength(2);
    cli.child.kill('SIGKILL');
    await cli.ended;
    await eventually(() => !after.some(isRunning));
  });

  it('vedette up ends at the second signal without waiting for running checks', async () => {
    let asked = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const silent = createServer(() => asked()).listen(0, '127.0.0.1');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await new Promise((resolve) => silent.once('listening', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const fixture = upFixture(daily('slow', `http://127.0.0.1:${port}/`));
    fixture.makeDatabase();
    const cli = fixture.start();
    await arrived;
    const children = [...childrenOf(pidOf(cli)).values()];
    cli.child.kill('SIGTERM');
    await cli.seen('stdout', /Ctrl-C again stops at once/);
    expect(children.every(isRunning)).toBe(true);
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(0);
    expect(children.some(isRunning)).toBe(false);
  });

  it('vedette up ends when its output is closed', async () => {
    const { hostname, port } = new URL(await okTarget());
    const request = { hostname, port: Number(port) };
    const often = { checkType: 'TCP', frequency: 0, frequencyOffset: 10, request };
    const fixture = upFixture({ id: 'often', ...often });
    fixture.makeDatabase();
    const cli = fixture.start();
    await cli.seen('stdout', /Stop/);
    cli.child.stdout?.destroy();
    expect((await cli.ended).code).toBe(0);
  });

  it('vedette up reports lost results if stdout cannot be written', async () => {
    const fixture = upFixture(daily('shop', await okTarget()));
    fixture.makeDatabase();
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const { stderr } = await fixture.start({}, full).ended;
    expect(stderr).toContain('stdout cannot be written (ENOSPC): results are lost');
  });

  it.each(['PORT', 'AGENT_HEALTH_PORT'])(
    'vedette up reports in one line that %s is in use',
    async (name) => {
      const taken = new URL(await okTarget()).port;
      const fixture = upFixture(daily('shop', 'http://127.0.0.1/'));
      fixture.makeDatabase();
      const { code, stdout, stderr } = await fixture.start({ [name]: taken }).ended;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      const [, line = '', ...rest] = stderr.split('\n');
      expect(line).toContain(`vedette: port ${taken} (${name}) is already in use: `);
      expect(rest).toEqual(['']);
    },
  );
});

describe('vedette up refuses to start', LIMIT, () => {
  it.each([
    ['{', /^vedette: .*up\.json is damaged: restore a copy, or start with another --data folder/],
    [
      JSON.stringify({ version: 1, apiKey: `vk_${'0'.repeat(32)}`, location: null, checks: [] }),
      null,
    ],
  ])('up.json with %s', async (text, line) => {
    const fixture = upFixture(daily('shop', 'http://127.0.0.1/'));
    mkdirSync(fixture.data);
    if (line === null) fixture.makeDatabase();
    writeFileSync(join(fixture.data, 'up.json'), text);
    const cli = fixture.start();
    if (line === null) {
      // A user's own key is as good as a generated one.
      await cli.seen('stdout', /its key vk_…0000 is in /);
      cli.child.kill('SIGTERM');
      expect((await cli.ended).code).toBe(0);
      // The key of another start is invalid.
      writeFileSync(join(fixture.data, 'up.json'), text.replace('vk_0', 'vk_1'));
      const { code, stderr } = await fixture.start().ended;
      expect(code).toBe(2);
      expect(stderr).toMatch(/^vedette: the database does not know the API key in .*up\.json: /m);
    } else {
      const { code, stdout, stderr } = await cli.ended;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(line);
    }
  });

  it('a file with problems keeps vedette up from starting, before any folder exists', async () => {
    const fixture = upFixture({ id: 'x' });
    const { code, stderr } = await runHere(['up', '--file', fixture.file, '--data', fixture.data]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^vedette: .*checks\[0\]\.checkType of check "x" is missing; .*\n$/);
    expect(() => modesIn(fixture.data)).toThrow('ENOENT');
  });

  it.each([
    [{ PORT: 'x' }, 'vedette: PORT is "x"; it must be a whole number from 0 to 65535\n'],
    [{ JOB_CONCURRENCY: '0' }, 'vedette: JOB_CONCURRENCY is "0"; it must be '],
    [{ DATABASE_POOL_SIZ: '5' }, 'did you mean DATABASE_POOL_SIZE?'],
  ])('a variable of either process: %j', async (env, line) => {
    const fixture = upFixture(daily('shop', 'http://127.0.0.1/'));
    const args = ['up', '--file', fixture.file, '--data', fixture.data];
    const { code, stderr } = await runHere(args, env);
    expect(code).toBe(2);
    expect(stderr).toContain(line);
  });
});
