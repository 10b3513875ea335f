import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { LOCATIONS } from '../../../src/model/enums.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { locationWithAgent } from '../../support/service/live-agent.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

const TCP = { checkType: 'TCP', request: { hostname: 'a.example', port: 80 } };
const SPACE = /\s+/g;

/** A check file that can be written again. JSON is YAML, and is on one line here. */
function checkFile(...checks: readonly object[]) {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = folder.file('checks.yaml');
  const write = (...next: readonly object[]): void => {
    const lines = next.map((check) => `  - ${JSON.stringify(check)}\n`);
    writeFileSync(path, `checks:\n${lines.join('')}`);
  };
  write(...checks);
  return { path, write };
}

describe('vedette apply', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env: Readonly<Record<string, string>> = {};

  beforeEach(async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ci', role: 'write' });
    env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
  });

  it('creates, updates and in the end changes nothing', async () => {
    const file = checkFile(
      { id: 'shop', ...TCP, tags: ['a'] },
      { id: 'off', ...TCP, activated: false },
    );
    const first = await runHere(['apply', file.path], env);
    expect(first).toEqual({
      code: 0,
      stderr: '',
      stdout: '+ create shop (TCP)\n+ create off (TCP)\n\n2 checks created\n',
    });
    const made = (await service().mine.get('/v1/checks/shop')).json;
    expect(made).toMatchObject({ name: 'shop', tags: ['a'], privateLocations: ['office'] });
    expect((await service().mine.get('/v1/checks/off')).json.activated).toBe(false);

    const again = await runHere(['apply', file.path], env);
    expect(again.stdout).toBe('nothing to change\n  2 checks unchanged\n');

    file.write({ id: 'shop', ...TCP, request: { ...TCP.request, port: 443 }, frequency: 5 });
    const third = await runHere(['apply', file.path], env);
    expect(third.stdout.replace(SPACE, ' ')).toBe(
      '~ update shop (TCP) tags ["a"] -> [] frequency 10 -> 5 request.port 80 -> 443 1 check of the service is not in the file and stays; --prune deletes it 1 check updated ',
    );
    expect((await service().mine.get('/v1/checks/shop')).json.request.port).toBe(443);
  });

  it('says that an update deactivates a check, in the plan and in what was done', async () => {
    const file = checkFile({ id: 'shop', ...TCP });
    await runHere(['apply', file.path], env);
    file.write({ id: 'shop', ...TCP, activated: false });
    const change = '~ update, deactivate shop (TCP)\n    activated  true -> false\n\n';
    const plan = await runHere(['apply', file.path, '--dry-run'], env);
    expect(plan.stdout).toContain(change);
    expect(plan.stdout).toContain('1 check to update, deactivate\n');
    const { stdout } = await runHere(['apply', file.path], env);
    expect(stdout).toBe(`${change}1 check updated, deactivated\n`);
    file.write({ id: 'shop', ...TCP });
    expect((await runHere(['apply', file.path], env)).stdout).toContain('\n1 check updated\n');
  });

  it('ignores defaults that the service fills in, and resets fields that left the file', async () => {
    const strategy = { type: 'LINEAR', maxRetries: 3 };
    const services = '/v1/status-pages/services';
    const { json: shop } = await service().mine.post(services, { name: 'Shop' });
    const said = [
      { id: 'a', ...TCP, retryStrategy: strategy, alertSettings: { escalationType: 'TIME_BASED' } },
      { id: 'b', ...TCP, retryStrategy: null, maxResponseTime: null, degradedResponseTime: null },
      { id: 'c', ...TCP, doubleCheck: false, frequency: 0, frequencyOffset: 10 },
      { id: 'd', ...TCP, frequency: 5, frequencyOffset: 7, locations: ['eu-west-1'] },
      {
        id: 'e',
        checkType: 'API',
        request: {
          url: 'https://example.com/?a=b',
          headers: [{ key: 'x', value: 'y' }],
          basicAuth: { username: 'u', password: '{{PASSWORD}}' },
          assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
        },
        triggerIncident: { serviceId: shop.id, severity: 'MAJOR', name: 'n' },
        maxResponseTime: 1000,
      },
      { id: 'site', checkType: 'URL', request: { url: 'https://example.com/' } },
    ];
    const file = checkFile(...said);
    const first = await runHere(['apply', file.path], env);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/^\S+:5: check "d" has a warning: No agent serves public .*\n$/);
    const again = await runHere(['apply', file.path], env);
    expect(again.stdout).toBe('nothing to change\n  6 checks unchanged\n');

    // A field that left the file must not keep its value.
    file.write(
      ...said.map(({ id, checkType, request }) => {
        const { headers: _, basicAuth: __, ...rest } = request as Record<string, unknown>;
        return { id, checkType, request: rest };
      }),
    );
    expect((await runHere(['apply', file.path], env)).stdout).toContain('\n5 checks updated\n');
    const last = await runHere(['apply', file.path], env);
    expect(last.stdout).toBe('nothing to change\n  6 checks unchanged\n');
    const a = (await service().mine.get('/v1/checks/a')).json;
    expect(a.retryStrategy).toMatchObject({ type: 'SINGLE_RETRY', sameRegion: false });
    expect(a.alertSettings.escalationType).toBe('RUN_BASED');
  });

  it('changes nothing with --dry-run, and deletes only with --prune', async () => {
    const file = checkFile({ id: 'old', ...TCP }, { id: 'kept', ...TCP });
    await runHere(['apply', file.path], env);
    file.write({ id: 'kept', ...TCP });
    const dry = await runHere(['apply', file.path, '--prune', '--dry-run'], env);
    expect(dry).toEqual({
      code: 0,
      stderr: '',
      stdout:
        '- delete old (TCP)\n  1 check unchanged\n\n1 check to delete\nnothing was changed: --dry-run\n',
    });
    expect((await service().mine.get('/v1/checks/old')).status).toBe(200);
    const pruned = await runHere(['apply', file.path, '--prune'], env);
    expect(pruned).toMatchObject({ code: 0, stderr: '' });
    expect(pruned.stdout).toContain('\n1 check deleted\n');
    expect((await service().mine.get('/v1/checks/old')).status).toBe(404);
  });

  it('says with --exit-code whether the service differs from the file', async () => {
    const file = checkFile({ id: 'shop', ...TCP });
    const codeOf = async (...flags: readonly string[]) =>
      (await runHere(['apply', file.path, ...flags], env)).code;
    const drift = () => codeOf('--dry-run', '--exit-code');
    expect(await drift()).toBe(4);
    expect((await service().mine.get('/v1/checks/shop')).status).toBe(404);
    await codeOf();
    expect(await drift()).toBe(0);
    // Secrets are written again each time, and are no difference.
    file.write({ id: 'shop', ...TCP, variables: [{ key: 'TOKEN', value: 'abc', secret: true }] });
    await codeOf();
    expect((await runHere(['apply', file.path, '--dry-run'], env)).stdout).toContain(
      '\n1 check to write again\n',
    );
    expect(await drift()).toBe(0);
    await service().mine.patch('/v1/checks/tcp/shop', { name: 'By hand' });
    expect(await drift()).toBe(4);
    expect(await codeOf('--dry-run')).toBe(0);
    file.write({ id: 'lost', ...TCP, privateLocations: ['nowhere'] });
    expect(await drift()).toBe(1);
    expect(await runHere(['apply', file.path, '--exit-code'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--exit-code needs --dry-run'),
    });
  });

  it('prints a line for each warning of a check that it wrote', async () => {
    const { mine } = service();
    await mine.post('/v1/private-locations', { slug: 'cellar', name: 'Cellar' });
    const file = checkFile(
      { id: 'fine', ...TCP, privateLocations: ['office'] },
      { id: 'shop', ...TCP, locations: ['eu-west-1'], privateLocations: ['cellar'] },
    );
    const { code, stdout, stderr } = await runHere(['apply', file.path], env);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching('2 checks created'),
    });
    expect(stderr.split('\n')).toEqual([
      `${file.path}:3: check "shop" has a warning: No agent serves public locations, so nothing runs in eu-west-1. Name private locations instead.`,
      `${file.path}:3: check "shop" has a warning: No agent of the private location cellar is connected, so nothing runs there. Start an agent with a key of this location.`,
      '',
    ]);
    const again = await runHere(['apply', file.path], env);
    expect(again).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints a warning of several checks once', async () => {
    await service().mine.post('/v1/private-locations', { slug: 'attic', name: 'Attic' });
    const ids = ['one', 'two', 'three'];
    const file = checkFile(...ids.map((id) => ({ id, ...TCP, privateLocations: ['attic'] })));
    expect(await runHere(['apply', file.path], env)).toMatchObject({
      code: 0,
      stderr: `${file.path}: 3 checks have a warning: No agent of the private location attic is connected, so nothing runs there. Start an agent with a key of this location.\n`,
    });
  });

  it('prints 50 warnings at most, and how many more there are', async () => {
    // Each check names different locations, because equal warnings are printed once.
    const pairs = LOCATIONS.flatMap((one) => LOCATIONS.map((other) => [one, other]));
    const different = pairs.filter(([one = '', other = '']) => one < other).slice(0, 53);
    const checks = different.map((locations, n) => ({ id: `check-${n}`, ...TCP, locations }));
    const file = checkFile(...checks);
    const { stderr } = await runHere(['apply', file.path], env);
    const lines = stderr.split('\n');
    expect(lines).toHaveLength(52);
    expect(lines[50]).toBe(`${file.path}: 3 more warnings`);
  });

  it('continues after a refused check, and names each with its line', async () => {
    const file = checkFile({ id: 'swapped', ...TCP });
    await runHere(['apply', file.path], env);
    file.write(
      { id: 'lost', ...TCP, privateLocations: ['nowhere'] },
      { id: 'good', ...TCP },
      { id: 'swapped', checkType: 'ICMP', request: { hostname: 'a.example' } },
    );
    const { code, stdout, stderr } = await runHere(['apply', file.path], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n1 check created, 2 refused\n$/);
    expect(stderr.split('\n')).toEqual([
      `${file.path}:4: check "swapped" is TCP in the service and ICMP in the file, and the type of a check never changes: give it another id, or delete it first`,
      `${file.path}:2: check "lost" is refused (400): body.privateLocations[0] must be the slug of a private location: there is no "nowhere"`,
      '',
    ]);
    expect((await service().mine.get('/v1/checks/good')).status).toBe(200);
  });

  it('names with --dry-run the checks that will be refused, and says that the service may refuse more', async () => {
    const file = checkFile({ id: 'swapped', ...TCP });
    await runHere(['apply', file.path], env);
    file.write(
      { id: 'lost', ...TCP, privateLocations: ['nowhere', 'office'] },
      { id: 'swapped', checkType: 'ICMP', request: { hostname: 'a.example' } },
    );
    const { code, stdout, stderr } = await runHere(['apply', file.path, '--dry-run'], env);
    expect(code).toBe(0);
    expect(stdout).toBe(
      '+ create lost (TCP)\n\n1 check to create\nnothing was changed: --dry-run; 2 would be refused; the service may still refuse changes that only it can check\n',
    );
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/:3: check "swapped" is TCP in the service and ICMP in the file/),
      `${file.path}:2: check "lost" will be refused: there is no private location "nowhere"; the account has office`,
      '',
    ]);
    expect((await service().mine.get('/v1/checks/lost')).status).toBe(404);
  });

  it('refuses a new check whose id is a path of the API, in the words of vedette validate, also with --dry-run', async () => {
    const file = checkFile({ id: 'api', ...TCP }, { id: 'shop', ...TCP });
    const why =
      'a service refuses new checks and heartbeats with the id api, which is a path of its API: choose another, for example api-check';
    const stderr = `${file.path}:2: check "api" cannot be created: ${why}\n`;
    const drift = () => runHere(['apply', file.path, '--dry-run', '--exit-code'], env);
    expect(await drift()).toEqual({
      code: 1,
      stderr,
      stdout:
        '+ create shop (TCP)\n\n1 check to create\nnothing was changed: --dry-run; 1 would be refused; the service may still refuse changes that only it can check\n',
    });
    const applied = await runHere(['apply', file.path], env);
    expect(applied).toMatchObject({ code: 1, stderr });
    expect(applied.stdout).toMatch(/\n1 check created, 1 refused\n$/);
    expect(await drift()).toMatchObject({ code: 1, stderr });
    expect((await runHere(['validate', file.path], env)).stdout).toContain(`: note: ${why}\n`);
  });

  it('prints each reason of a refusal on a line of its own', async () => {
    const file = checkFile({ id: 'lost', ...TCP, privateLocations: ['nowhere', 'missing'] });
    const { code, stderr } = await runHere(['apply', file.path], env);
    expect(code).toBe(1);
    const start = `${file.path}:2: check "lost" is refused (400): body.privateLocations`;
    expect(stderr.split('\n')).toEqual([
      `${start}[0] must be the slug of a private location: there is no "nowhere"`,
      `${start}[1] must be the slug of a private location: there is no "missing"`,
      '',
    ]);
  });

  it('chooses a location only if there is exactly one', async () => {
    const file = checkFile({ id: 'shop', ...TCP }, { id: 'eu', ...TCP, locations: ['eu-west-1'] });
    await service().mine.post('/v1/private-locations', { slug: 'plant', name: 'Plant' });
    const unsaid = await runHere(['apply', file.path], env);
    expect(unsaid).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: check "shop" names no location to run in; the account has office, plant: choose one with --location, or name some in the file\n',
    });
    const wrong = await runHere(['apply', file.path, '--location', 'pant'], env);
    expect(wrong.stderr).toContain('no private location has the slug "pant"; did you mean plant?');
    expect(await runHere(['apply', file.path, '--location', 'plant'], env)).toMatchObject({
      code: 0,
    });
    const shop = (await service().mine.get('/v1/checks/shop')).json;
    expect(shop.privateLocations).toEqual(['plant']);
    const eu = (await service().mine.get('/v1/checks/eu')).json;
    expect(eu).toMatchObject({ locations: ['eu-west-1'], privateLocations: null });
  });

  it('shows no secret of either side', async () => {
    const request = (secret: string) => ({
      url: `https://user:${secret}@example.com/?token=${secret}`,
      headers: [
        { key: 'authorization', value: secret },
        { key: 'accept', value: 'text/html', locked: secret === 'hunter3' },
      ],
      queryParameters: [{ key: 'k', value: secret }],
      bodyType: 'RAW',
      body: secret,
      basicAuth: { username: 'u', password: secret },
    });
    const file = checkFile({ id: 'shop-api', checkType: 'API', request: request('hunter2') });
    await runHere(['apply', file.path], env);
    file.write({ id: 'shop-api', checkType: 'API', request: request('hunter3') });
    const { stdout } = await runHere(['apply', file.path], { ...env, FORCE_COLOR: '1' });
    expect(stdout).not.toMatch(/hunter/);
    expect(stdout).toContain('request.basicAuth.password');
    expect(stdout).toContain('\u001b[');
    expect(stdout).toContain('accept: text/html -> accept: ******** (locked)');
  });

  it('reads more checks than one page has', async () => {
    const ids = Array.from({ length: 101 }, (_, n) => ({ id: `check-${n}`, ...TCP }));
    const file = checkFile(...ids);
    expect((await runHere(['apply', file.path], env)).stdout).toContain('\n101 checks created\n');
    const again = await runHere(['apply', file.path], env);
    expect(again.stdout).toBe('nothing to change\n  101 checks unchanged\n');
  });

  it('ends with one line if the key, its role or the file is wrong', async () => {
    const file = checkFile({ id: 'shop', ...TCP });
    const wrong = await runHere(['apply', file.path], { ...env, API_KEY: `vk_${'0'.repeat(32)}` });
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(
      /^vedette: the service at .* does not take the key: Bad Token; .*\n$/,
    );

    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'r', role: 'read' });
    const reader = await runHere(['apply', file.path], { ...env, API_KEY: key });
    expect(reader.code).toBe(2);
    expect(reader.stderr).toMatch(/refuses this to the key: .*; use a key with the role write\n$/);

    file.write({ id: 'shop' });
    const { code, stderr } = await runHere(['apply', file.path], env);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file.path}:2:5: checks[0].checkType of check "shop" is missing`);
  });
});

describe('vedette apply with a service that is not well', () => {
  async function stub(listener: RequestListener): Promise<Readonly<Record<string, string>>> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { SERVICE_URL: `http://127.0.0.1:${port}`, API_KEY: `vk_${'1'.repeat(32)}` };
  }
  const placed = { id: 'shop', ...TCP, privateLocations: ['office'] };

  it('waits as long as Retry-After asks', async () => {
    let refusals = 0;
    const env = await stub((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') response.end('[]');
      else if (refusals < 2) {
        refusals += 1;
        response.writeHead(429, { 'retry-after': '0' });
        response.end('{"statusCode":429,"error":"Too Many Requests","message":"later"}');
      } else response.end('{}');
    });
    const { terminal, stdout } = memoryTerminal();
    const real = { ...terminal, clock: systemClock, env };
    expect(await runProgram(['apply', checkFile(placed).path], real, () => {})).toBe(0);
    expect(refusals).toBe(2);
    expect(stdout()).toContain('1 check created');
  });

  it('ends with one line where SERVICE_URL names no service, or the answer is unreadable', async () => {
    const page = await stub((_, response) => response.end('<html>'));
    const { code, stderr } = await runHere(['apply', checkFile(placed).path], page);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^vedette: .*see that SERVICE_URL names a Vedette service\n$/);
    const other = await stub((_, response) => response.end('[{"a":1}]'));
    const strange = await runHere(['apply', checkFile(placed).path], other);
    expect(strange.stderr).toMatch(/^vedette: SERVICE_URL names no Vedette service: .*\n$/);
  });

  it('says what was done when it is interrupted', async () => {
    const { terminal, stdout, stderr } = memoryTerminal();
    const env = await stub((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') response.end('[]');
      else if (request.url?.endsWith('/c0') === true) response.end('{}');
      // Four requests at once: this one is sent after the first answer. The others get none.
      else if (request.url?.endsWith('/c4') === true) terminal.signals.emit('SIGINT');
    });
    const file = checkFile(...[0, 1, 2, 3, 4].map((n) => ({ ...placed, id: `c${n}` })));
    const ended = await runProgram(['apply', file.path], { ...terminal, env }, () => {});
    expect(ended).toBe(130);
    expect(stdout()).toMatch(/\nstopped early: 1 check created\n$/);
    expect(stderr()).toBe('');
  });

  it.each([
    [{}, /^vedette: SERVICE_URL is not set; it must be an http or https URL/],
    [{ SERVICE_URL: 'http://h' }, /^vedette: neither API_KEY nor API_KEY_FILE is set/],
    [
      { SERVICE_URL: 'http://h', API_KEY: `pl_${'0'.repeat(32)}` },
      /^vedette: API_KEY is malformed; it must be an API key/,
    ],
    [
      { SERVICE_URL: 'http://h', API_KEY_FILE: '/no/such/file' },
      /^vedette: API_KEY_FILE is "\/no\/such\/file", which does not exist; /,
    ],
  ])('names the variable that is wrong: %j', async (env, line) => {
    const { code, stdout, stderr } = await runHere(['apply', 'x.yaml'], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(line);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});
