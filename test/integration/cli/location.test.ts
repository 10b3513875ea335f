import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyFile } from '../../../src/cli/key-file.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { Role } from '../../../src/model/enums.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { hashOfKey } from '../../../src/service/http/access/key-hashes.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

const LOCATIONS = '/v1/private-locations';
const KEY = /^pl_[0-9a-f]{32}$/;
const CREATED = /^location {2}(\S+)\nkey {7}(pl_\S+) {2}\(for agents; it is shown only once\)\n$/;

/** Serves until the test ends. Returns the URL. */
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A relay to the service that loses the first answer to each POST. */
function losingRelay(port: number): Promise<string> {
  const lost = new Set<string>();
  return serving((request, response) => {
    const { method, url = '', headers } = request;
    const target = { host: '127.0.0.1', port, method, path: url, headers };
    const forwarded = sendRequest(target, (answer) => {
      if (method === 'POST' && !lost.has(url)) {
        lost.add(url);
        answer.resume().on('end', () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
}

describe('vedette location add', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env: Readonly<Record<'SERVICE_URL' | 'API_KEY', string>>;

  const envOf = async (role: Role) => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: role, role });
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };
  const add = (...args: readonly string[]) => runHere(['location', 'add', ...args], env);
  const locations = async () => (await service().mine.get(LOCATIONS)).json;
  const keysOf = async (id: string) => (await service().mine.get(`${LOCATIONS}/${id}/keys`)).json;
  /** The location to which the key belongs. */
  const locationOf = async (key: string): Promise<string | undefined> =>
    (await service().features.locationKeys.authenticate(hashOfKey(key)))?.locationId;

  beforeEach(async () => {
    env = await envOf('admin');
  });

  it('creates a location, and prints its id and a key for its agents', async () => {
    const { code, stdout, stderr } = await add('office', '--name', 'Office');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, id = '', key = ''] = CREATED.exec(stdout) ?? [];
    expect(await locations()).toMatchObject([{ id, slug: 'office', name: 'Office' }]);
    expect(await locationOf(key)).toBe(id);
    const json = await add('berlin', '--output', 'json');
    const printed = JSON.parse(json.stdout);
    expect(printed).toEqual({
      ...{ id: expect.any(String), slug: 'berlin', created: true },
      key: expect.stringMatching(KEY),
    });
    const berlin = { id: printed.id, slug: 'berlin', name: 'berlin' };
    expect(await locations()).toContainEqual(expect.objectContaining(berlin));
  });

  it('changes nothing with --if-missing if the location has a key, which stays in its file', async () => {
    const path = `${makeTestFolder()}/office.key`;
    const args = ['office', '--if-missing', '--key-file', path, '--output', 'json'];
    const made = await add(...args);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id, ...rest } = JSON.parse(made.stdout);
    expect(rest).toEqual({ slug: 'office', created: true, keyFile: path });
    const key = readFileSync(path, 'utf8');
    expect(key.trim()).toMatch(KEY);
    expect(await locationOf(key.trim())).toBe(id);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const again = await add(...args);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual({ id, slug: 'office', created: false });
    expect(again.stderr).toBe(
      `vedette: --key-file ${path} was not written: the private location has a key, and the service stores only hashes of keys; for another key: POST ${LOCATIONS}/${id}/keys\n`,
    );
    const pretty = await add('office', '--if-missing');
    expect(pretty.stdout).toBe(
      `location  ${id}  (exists already, with a key; nothing was changed)\n`,
    );
    expect(readFileSync(path, 'utf8')).toBe(key);
    expect(await keysOf(id)).toHaveLength(1);
  });

  it('creates the key of a location that has no active one with --if-missing', async () => {
    const { json: office } = await service().mine.post(LOCATIONS, { slug: 'office', name: 'O' });
    const { json: revoked } = await service().mine.post(`${LOCATIONS}/${office.id}/keys`);
    await service().mine.delete(`${LOCATIONS}/${office.id}/keys/${revoked.id}`);
    const { code, stdout, stderr } = await add('office', '--if-missing');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`location  ${office.id}  (exists already)\nkey       pl_`);
    expect(await keysOf(office.id)).toHaveLength(2);
    expect(await locations()).toMatchObject([{ name: 'O' }]);
  });

  it('refuses a location that exists, and an unusable slug, in one line', async () => {
    const path = `${makeTestFolder()}/office.key`;
    await service().mine.post(LOCATIONS, { slug: 'office', name: 'Office' });
    expect(await add('office', '--key-file', path)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: the service refuses the private location "office": There is a private location with the slug office already; with --if-missing that is no error\n',
    });
    expect(existsSync(path)).toBe(false);
    const wrong = await add('The Office');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(
      /^vedette: the service refuses the private location "The Office": .*slug must be .*\n$/,
    );
  });

  it('creates nothing if the key file exists or cannot be created', async () => {
    const folder = makeTestFolder();
    writeFileSync(`${folder}/old.key`, 'old');
    const exists = await add('office', '--key-file', `${folder}/old.key`);
    expect(exists).toMatchObject({ code: 2, stdout: '' });
    expect(exists.stderr).toMatch(/old\.key exists: .*; nothing was created\n$/);
    expect(readFileSync(`${folder}/old.key`, 'utf8')).toBe('old');
    const nowhere = await add('office', '--key-file', `${folder}/none/office.key`);
    expect(nowhere).toMatchObject({ code: 2, stdout: '' });
    expect(nowhere.stderr).toMatch(/cannot be written: .*; nothing was created\n$/);
    expect(await locations()).toEqual([]);
  });

  it('revokes a key that cannot be written to its file', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    vi.spyOn(KeyFile.prototype, 'save').mockImplementationOnce(async function (this: KeyFile) {
      await this.discard();
      throw full;
    });
    const folder = makeTestFolder();
    const failed = await add('office', '--key-file', `${folder}/office.key`);
    expect(failed).toEqual({
      code: 2,
      stdout: '',
      stderr: `vedette: --key-file ${folder}/office.key cannot be written: no space left on device; the private location "office" exists, and the key was revoked: run the command again with --if-missing and another file\n`,
    });
    const [{ id }] = await locations();
    expect(await keysOf(id)).toMatchObject([{ revokedAt: expect.any(String) }]);
    const again = await add('office', '--if-missing', '--key-file', `${folder}/other.key`);
    expect(again.code, again.stderr).toBe(0);
    expect(await locationOf(readFileSync(`${folder}/other.key`, 'utf8').trim())).toBe(id);
  });

  it('needs a key with the role admin, and says what it created before another one is refused', async () => {
    const path = `${makeTestFolder()}/office.key`;
    const args = ['location', 'add', 'office', '--key-file', path];
    const reader = await runHere(args, await envOf('read'));
    expect(reader).toMatchObject({ code: 2, stdout: '' });
    expect(reader.stderr).toMatch(/; use a key with the role admin\n$/);
    expect(await locations()).toEqual([]);
    const writer = await runHere(args, await envOf('write'));
    expect(writer).toMatchObject({ code: 2, stdout: '' });
    expect(writer.stderr).toMatch(
      /^vedette: the service at .* refuses this to the key: .*; use a key with the role admin, which keys of locations need; the private location "office" was created, but no key of it was received: run the command again with --if-missing\n$/,
    );
    expect(existsSync(path)).toBe(false);
    expect(await add('office', '--if-missing', '--key-file', path)).toMatchObject({ code: 0 });
    expect(await locationOf(readFileSync(path, 'utf8').trim())).toBe((await locations())[0].id);
  });

  it('creates one location and one key, which it prints, if answers are lost', async () => {
    const { terminal, stdout } = memoryTerminal();
    const url = await losingRelay(running().app.port);
    // Repeats a request at once.
    const after: typeof systemClock.after = (delayMs, callback) =>
      systemClock.after(delayMs <= 2_000 ? 0 : delayMs, callback);
    const clock = { ...systemClock, after };
    const connected = { ...terminal, clock, env: { ...env, SERVICE_URL: url } };
    expect(await runProgram(['location', 'add', 'office'], connected, () => {})).toBe(0);
    const [, id = '', key = ''] = CREATED.exec(stdout()) ?? [];
    expect(await locations()).toMatchObject([{ id, slug: 'office' }]);
    expect(await keysOf(id)).toHaveLength(1);
    expect(await locationOf(key)).toBe(id);
  });

  it('says on a signal that the location exists without a key, and leaves no file', async () => {
    const path = `${makeTestFolder()}/office.key`;
    const { terminal, stdout, stderr } = memoryTerminal();
    const url = await serving(({ method, url: asked = '' }, response) => {
      if (method === 'POST' && asked.endsWith('/keys')) {
        terminal.signals.emit('SIGINT');
        return;
      }
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end('{"id":"an-id"}');
    });
    const connected = { ...terminal, env: { ...env, SERVICE_URL: url } };
    const args = ['location', 'add', 'office', '--key-file', path];
    expect(await runProgram(args, connected, () => {})).toBe(130);
    expect(stdout()).toBe('');
    expect(stderr()).toContain(
      'vedette: the private location "office" was created, but no key of it was received: run the command again with --if-missing\n',
    );
    expect(existsSync(path)).toBe(false);
  });

  it('has help with examples and the variables that it reads', async () => {
    const { code, stdout } = await runHere(['help', 'location', 'add']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: vedette location add [options] <slug>');
    expect(stdout).toMatch(/Examples:\n {2}\$ .*vedette location add/);
    expect(stdout).toContain('with the role admin.');
    const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) +\S/gm)].map(([, name]) => name);
    const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
    expect(listed).toEqual(['SERVICE_URL', 'API_KEY', 'API_KEY_FILE', ...proxies]);
  });
});
