import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { ApiClient } from '../../../src/cli/service-api/api-client.ts';
import { FileApplier } from '../../../src/cli/up/file-applier.ts';
import type { Check } from '../../../src/model/check/check.ts';
import type { OwnVariable } from '../../../src/model/check/variable.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { silentLog } from '../../support/database/databases.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { locationWithAgent } from '../../support/service/live-agent.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

interface Content {
  readonly variables?: readonly object[];
  readonly checks?: readonly object[];
}

const CHECK = { id: 'shop', checkType: 'TCP', request: { hostname: 'a.example', port: 80 } };
const WHY = '  the service never returns secrets, so they are written again\n';
const UNCHANGED = '  1 check unchanged\n';

/** A check file, one entry a line from line 2, that can be written again. */
function checkFile(content: Content) {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = folder.file('checks.yaml');
  const write = ({ variables = [], checks = [CHECK] }: Content): void => {
    const list = (entries: readonly object[]): string =>
      entries.map((entry) => `  - ${JSON.stringify(entry)}\n`).join('');
    writeFileSync(path, `variables:\n${list(variables)}checks:\n${list(checks)}`);
  };
  write(content);
  return { path, write };
}

type ServiceEnv = Readonly<Record<'SERVICE_URL' | 'API_KEY', string>>;

/** Runs the part of `vedette up` that applies its file. */
function applierFor({ SERVICE_URL, API_KEY }: ServiceEnv) {
  const client = new ApiClient({
    serviceUrl: new URL(SERVICE_URL),
    apiKey: API_KEY,
    clock: systemClock,
    onWait: () => {},
  });
  onTestFinished(() => client.close());
  const told: string[] = [];
  const { signal } = new AbortController();
  const applied = new FileApplier({
    file: 'f.yaml',
    client,
    log: silentLog(),
    fromFile: { checks: [], resources: [] },
    onApplied: async () => {},
    printLine: (line) => told.push(line),
  });
  const change = async (checks: readonly Check[], variables: readonly OwnVariable[]) => {
    expect(await applied.reapply({ checks, variables }, signal)).toBe(true);
    return told.splice(0);
  };
  return { applied, change, signal };
}

describe('the variables of a file', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env: ServiceEnv = { SERVICE_URL: '', API_KEY: '' };

  const envOf = async (role: 'admin' | 'write' | 'read'): Promise<ServiceEnv> => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: role, role });
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };
  /** With their values, as agents get them. */
  const stored = async (): Promise<readonly OwnVariable[]> => {
    const { features, store, mine } = service();
    return features.variables.forAgents(store, mine.accountId);
  };

  beforeEach(async () => {
    env = await envOf('admin');
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
  });

  it('and the secrets of channels come from an env file that is named', async () => {
    const { mine } = service();
    const template = 'Since {{SINCE}}';
    const headers = [{ key: 'X-Routing-Key', value: '{{ROUTE}}' }];
    const hook = { name: 'hook', url: 'https://a.example/{{PATH}}', headers, template };
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const [file, secrets] = [folder.file('shop.json'), folder.file('secrets.env')];
    const variables = [{ key: 'TOKEN', value: '{{SHOP_TOKEN}}', secret: true }];
    const alertChannels = [{ id: 'hook', type: 'WEBHOOK', config: hook }];
    writeFileSync(file, JSON.stringify({ variables, alertChannels }));
    writeFileSync(secrets, 'PATH=s3cret-1\nROUTE=s3cret-3\n');
    const lacking = await runHere(['apply', file, '--env-file', secrets], env);
    expect(lacking).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('secrets.env has no value for SHOP_TOKEN'),
    });
    const bare = await runHere(['apply', file], env);
    expect(bare).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'has {{SHOP_TOKEN}}, {{PATH}}, {{ROUTE}} in alert channels or secret variables: give the values with --env-file',
      ),
    });
    expect(await stored()).toEqual([]);
    writeFileSync(secrets, 'PATH=s3cret-1\nSHOP_TOKEN=s3cret-2\nROUTE=s3cret-3\n');
    const { code, stdout } = await runHere(['apply', file, '--env-file', secrets], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain('s3cret');
    expect(await stored()).toMatchObject([{ key: 'TOKEN', value: 's3cret-2' }]);
    const [channel] = (await mine.get('/v1/alert-channels')).json;
    expect(channel.config).toMatchObject({ url: 'https://a.example/s3cret-1', template });
    // Without the values, a plan compares everything else, and says which are missing.
    const note =
      'vedette: {{SHOP_TOKEN}}, {{PATH}}, {{ROUTE}} in alert channels or secret variables have no values: they are not compared; give them with --env-file to compare them\n';
    for (const planner of [env, await envOf('read')]) {
      const preview = () => runHere(['apply', file, '--dry-run', '--exit-code'], planner);
      const same = await preview();
      expect(same).toMatchObject({ code: 0, stderr: note });
      expect(same.stdout).toContain(
        '\n  1 alert channel seems unchanged: values of {{NAME}}, and secrets beside them, were not compared\n',
      );
      const moved = { ...hook, name: 'other', url: 'https://b.example/{{PATH}}', headers: [] };
      const others = [{ id: 'hook', type: 'WEBHOOK', config: moved }];
      writeFileSync(file, JSON.stringify({ variables, alertChannels: others }));
      const other = await preview();
      expect(other.code, other.stderr).toBe(4);
      expect(other.stdout).toMatch(/config\.name +"hook" -> "other"\n/);
      expect(other.stdout).toMatch(/config\.url +"https:\/\/a\.example.* -> "https:\/\/b\.example/);
      expect(`${same.stdout}${other.stdout}${other.stderr}`).not.toContain('s3cret');
      writeFileSync(file, JSON.stringify({ variables, alertChannels }));
    }
    expect(await stored()).toMatchObject([{ key: 'TOKEN', value: 's3cret-2' }]);
    // The plan compares with the value of the service, which is no longer in the env file.
    writeFileSync(secrets, 'PATH=s3cret-1\nSHOP_TOKEN=s3cret-2\nROUTE=s3cret-4\n');
    for (const more of [['--dry-run'], []]) {
      const changed = await runHere(['apply', file, '--env-file', secrets, ...more], env);
      expect(changed).toMatchObject({ code: 0, stderr: '' });
      expect(changed.stdout).toContain('X-Routing-Key: ******** (another one)');
      expect(changed.stdout).not.toContain('s3cret');
    }
  });

  it('are named in a warning where checks use them and only the env file defines them', async () => {
    const { mine } = service();
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const [file, secrets] = [folder.file('shop.json'), folder.file('secrets.env')];
    const using = (id: string, ...names: readonly string[]) => ({
      ...{ id, checkType: 'API', privateLocations: ['office'] },
      request: {
        url: 'https://shop.test/',
        headers: names.map((name) => ({ key: `x-${name}`, value: `{{${name}}}` })),
      },
    });
    const own = { ...using('own', 'OWN'), variables: [{ key: 'OWN', value: 'a' }] };
    const checks = [own, using('one', 'FILE', 'LACKING'), using('two', 'ACCOUNT', 'AGENTS')];
    const variables = [{ key: 'FILE', value: '{{FILE}}', secret: true }];
    writeFileSync(file, JSON.stringify({ variables, checks }));
    writeFileSync(secrets, 'OWN=1\nFILE=s3cret-2\nLACKING=s3cret-3\nACCOUNT=4\n');
    await mine.post('/v1/variables', { key: 'ACCOUNT', value: 'a' });
    const apply = ['apply', file, '--env-file', secrets];
    const planned = await runHere([...apply, '--dry-run'], env);
    expect(planned).toMatchObject({
      code: 0,
      stderr: `vedette: 1 check uses LACKING, which only ${secrets} defines: apply does not fill in checks; define it as a variable of the file or the account, unless the agents have it\n`,
    });
    await mine.post('/v1/variables', { key: 'LACKING', value: 'a' });
    expect(await runHere(apply, env)).toMatchObject({ code: 0, stderr: '' });
  });

  it('become those of the account, and no value of theirs is shown', async () => {
    const file = checkFile({
      variables: [
        { key: 'BASE', value: 's3cret-1' },
        { key: 'TOKEN', value: 's3cret-2', secret: true },
      ],
    });
    const dry = await runHere(['apply', file.path, '--dry-run'], env);
    expect(dry).toEqual({
      code: 0,
      stderr: '',
      stdout:
        '+ create variable BASE\n+ create variable TOKEN (secret)\n+ create shop (TCP)\n\n2 variables to create, 1 check to create\nnothing was changed: --dry-run; the service may still refuse changes that only it can check\n',
    });
    expect(await stored()).toEqual([]);

    const first = await runHere(['apply', file.path], env);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/\n\n2 variables created, 1 check created\n$/);
    expect(await stored()).toEqual([
      { key: 'BASE', value: 's3cret-1', secret: false },
      { key: 'TOKEN', value: 's3cret-2', secret: true },
    ]);

    file.write({
      variables: [
        { key: 'BASE', value: 's3cret-3', secret: true },
        { key: 'TOKEN', value: 's3cret-4', secret: true },
      ],
    });
    const second = await runHere(['apply', file.path], env);
    expect(second).toEqual({
      code: 0,
      stderr: '',
      stdout: `~ update variable BASE (secret)\n    value   another one (not shown)\n    secret  false -> true\n~ update variable TOKEN (secret, written again)\n${WHY}${UNCHANGED}\n1 variable updated, 1 variable written again\n`,
    });
    expect((await stored()).map(({ value }) => value)).toEqual(['s3cret-3', 's3cret-4']);
    expect(dry.stdout + first.stdout + second.stdout).not.toContain('s3cret');
  });

  it('are changed only where they differ, and other variables stay', async () => {
    const { mine } = service();
    await mine.post('/v1/variables', { key: 'OTHER', value: 'x' });
    await mine.post('/v1/variables', { key: 'LOCKED', value: 'x', locked: true });
    const file = checkFile({ variables: [{ key: 'LOCKED', value: 'y' }] });
    await runHere(['apply', file.path], env);
    expect((await mine.get('/v1/variables/LOCKED')).json).toMatchObject({
      value: 'y',
      locked: true,
    });
    // If nothing is to be written, a key with a lesser role is enough.
    expect(await runHere(['apply', file.path, '--prune'], await envOf('write'))).toEqual({
      code: 0,
      stderr: '',
      stdout: `nothing to change\n  1 variable unchanged\n  1 variable of the service is not in the file and stays\n${UNCHANGED}`,
    });

    file.write({ variables: [] });
    const { stdout } = await runHere(['apply', file.path, '--prune'], env);
    expect(stdout).toContain('  2 variables of the service are not in the file and stay\n');
    expect(await stored()).toHaveLength(2);
  });

  it('may change from secret to plain', async () => {
    const file = checkFile({ variables: [{ key: 'A', value: 'x', secret: true }] });
    await runHere(['apply', file.path], env);
    file.write({ variables: [{ key: 'A', value: 'x' }] });
    const { stdout } = await runHere(['apply', file.path], env);
    expect(stdout).toContain('~ update variable A\n    secret  true -> false\n');
    expect((await service().mine.get('/v1/variables/A')).json.value).toBe('x');
  });

  it('need a key with the role admin, and nothing is done without', async () => {
    const file = checkFile({ variables: [{ key: 'A', value: 'x' }] });
    const { code, stderr } = await runHere(['apply', file.path], await envOf('write'));
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^vedette: the service at .* refuses this to the key: .*; use a key with the role admin, which variables need\n$/,
    );
    expect((await service().mine.get('/v1/checks/shop')).status).toBe(404);
  });

  describe('of a check itself', () => {
    const withOwn = (...variables: readonly object[]): Content => ({
      checks: [{ ...CHECK, variables }],
    });

    it('are part of the check, and no value of theirs is shown', async () => {
      const file = checkFile(withOwn({ key: 'A', value: 's3cret-1' }));
      await runHere(['apply', file.path], env);
      const again = await runHere(['apply', file.path], env);
      expect(again.stdout).toBe(`nothing to change\n${UNCHANGED}`);

      file.write(withOwn({ key: 'A', value: 's3cret-2' }, { key: 'B', value: 's3cret-3' }));
      const { stdout } = await runHere(['apply', file.path], env);
      expect(stdout).toBe(
        '~ update shop (TCP)\n    variables[0]  A: ******** (another one)\n    variables[1]  (none) -> B: ********\n\n1 check updated\n',
      );
      const { variables } = (await service().mine.get('/v1/checks/shop')).json;
      expect(variables).toEqual([
        { key: 'A', value: 's3cret-2', secret: false },
        { key: 'B', value: 's3cret-3', secret: false },
      ]);
    });

    it('are written again where they are secret, which the plan says', async () => {
      const secret = { key: 'A', value: 's3cret-1', secret: true };
      const open = { key: 'B', value: 's3cret-2' };
      const file = checkFile(withOwn(secret, open));
      await runHere(['apply', file.path], env);
      const again = await runHere(['apply', file.path], env);
      const head = '~ update shop (TCP)\n    variables[0]  A: ******** (secret)';
      expect(again.stdout).toBe(`${head} (written again)\n${WHY}\n1 check written again\n`);

      file.write(withOwn({ ...secret, secret: false }, open));
      const opened = await runHere(['apply', file.path], env);
      expect(opened.stdout).toBe(`${head} -> A: ********\n\n1 check updated\n`);
      const { variables } = (await service().mine.get('/v1/checks/shop')).json;
      expect(variables).toContainEqual({ key: 'A', value: 's3cret-1', secret: false });
    });
  });

  describe('with vedette up', () => {
    const variable = (key: string, value: string, secret = true): OwnVariable => ({
      key,
      value,
      secret,
    });
    const own = (...variables: readonly OwnVariable[]): Check =>
      checkOf('TCP', { id: 'shop', variables });

    beforeEach(async () => {
      await service().mine.post('/v1/private-locations', { slug: 'local', name: 'Local' });
    });

    it('are applied, and secret ones again only where the file changes them', async () => {
      const { applied, change, signal } = applierFor(env);
      const checks = [own(variable('OWN', 's3cret-1'))];
      const first = { checks, variables: [variable('A', 's3cret-2'), variable('B', 'x', false)] };
      const done = await applied.apply(first, signal);
      expect([done.variables.length, done.steps.length]).toEqual([2, 1]);

      expect(await change(checks, first.variables)).toEqual([]);
      expect(await change(checks, [variable('A', 's3cret-3'), variable('B', 'x', false)])).toEqual([
        'f.yaml has changed: 1 variable updated',
      ]);
      expect((await stored()).map(({ value }) => value)).toEqual(['s3cret-3', 'x']);
      expect(await change([own(variable('OWN', 's3cret-4'))], [])).toEqual([
        'f.yaml has changed: 1 check updated',
      ]);
      expect(await change([own(variable('OWN', 's3cret-4'))], [])).toEqual([]);
      expect(await stored()).toHaveLength(2);
    });

    it('are written again after a start, which does not know what earlier ones wrote', async () => {
      const one = applierFor(env);
      const content = { checks: [own(variable('OWN', 'x'))], variables: [variable('A', 'x')] };
      await one.applied.apply(content, one.signal);
      const other = applierFor(env);
      const done = await other.applied.apply(content, other.signal);
      expect([done.variables.length, done.steps.length]).toEqual([1, 1]);
    });
  });
});

describe('the variables of a file, with a service that has no key for secrets', () => {
  const running = useRunningService('pglite', { secrets: null });
  const service = useAccounts(running);

  const envOf = async (): Promise<ServiceEnv> => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'a', role: 'admin' });
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };
  const PROBLEM =
    'variable "A" is refused (409): The service has no key to encrypt secrets with, and does not store them unencrypted: set ENCRYPTION_KEY and restart the service';

  it('are refused one by one, each with its line, and the rest is applied', async () => {
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
    const { path } = checkFile({
      variables: [
        { key: 'B', value: 'x' },
        { key: 'A', value: 's3cret', secret: true },
      ],
    });
    const { code, stdout, stderr } = await runHere(['apply', path], await envOf());
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${path}:3: ${PROBLEM}\n` });
    expect(stdout).toMatch(/\n\n1 variable created, 1 check created, 1 refused\n$/);
  });

  it('are tried again with vedette up', async () => {
    const { mine } = service();
    await mine.post('/v1/private-locations', { slug: 'local', name: 'Local' });
    const { change } = applierFor(await envOf());
    const checks = [checkOf('TCP', { id: 'shop' })];
    const secret = { key: 'A', value: 's3cret', secret: true };
    expect(await change(checks, [secret])).toEqual([
      `f.yaml: ${PROBLEM}`,
      'f.yaml has changed: 1 check created',
    ]);
    expect(await change(checks, [secret])).toEqual([`f.yaml: ${PROBLEM}`]);
    expect(await change(checks, [{ ...secret, secret: false }])).toEqual([
      'f.yaml has changed: 1 variable created',
    ]);
  });
});

describe('the variables of a file, with a service that is not well', () => {
  it('are written although somebody else made them, or an answer was lost', async () => {
    const asked: string[] = [];
    const answers: RequestListener = (request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') return void response.end('[]');
      asked.push(`${request.method} ${request.url}`);
      // The first answer is lost. The second request finds the variable in place.
      if (asked.length === 1) return void request.socket.destroy();
      if (request.method === 'POST') {
        response.writeHead(409);
        return void response.end('{"statusCode":409,"error":"Conflict","message":"there is"}');
      }
      response.end('{}');
    };
    const server = createServer(answers).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const env = { SERVICE_URL: `http://127.0.0.1:${port}`, API_KEY: `vk_${'1'.repeat(32)}` };
    const { path } = checkFile({
      variables: [{ key: 'A', value: 's3cret' }],
      checks: [{ ...CHECK, privateLocations: ['office'] }],
    });
    const { terminal, stdout } = memoryTerminal();
    const real = { ...terminal, clock: systemClock, env };
    expect(await runProgram(['apply', path], real, () => {})).toBe(0);
    expect(asked).toEqual([
      'POST /v1/variables',
      'POST /v1/variables',
      'PUT /v1/variables/A',
      'PUT /v1/checks/tcp/shop',
    ]);
    expect(stdout()).toMatch(/\n\n1 variable created, 1 check created\n$/);
  });
});
