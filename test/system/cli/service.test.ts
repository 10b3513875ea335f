import { chownSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { runCli, runHere, startCli } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { copyEmptyDatabase, copyMigratedDatabase } from '../../support/database/new-database.ts';
import { NOBODY } from '../../support/process/as-nobody.ts';
import { openToAll, openToOthers } from '../../support/process/file-modes.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { askService } from '../../support/service/service-app.ts';

const folder = makeTempFolder();

beforeAll(() => copyEmptyDatabase(folder.path));
afterAll(() => folder.remove());

describe('vedette service', () => {
  it('migrate stops at Ctrl+C between two migrations, and says what is left', async () => {
    const { terminal, stdout, stderr } = memoryTerminal();
    const write = terminal.stderr.write.bind(terminal.stderr);
    // Pressed while a migration has just been applied.
    Object.assign(terminal.stderr, {
      write(text: string) {
        const written = write(text);
        if (/applied 0002_/.test(text)) terminal.signals.emit('SIGINT');
        return written;
      },
    });
    const env = { DATA_DIR: folder.path };
    const code = await runProgram(['service', 'migrate'], { ...terminal, env }, (exitCode) => {
      throw new Error(`exit ${exitCode}`);
    });
    expect(code).toBe(130);
    expect(stdout()).toMatch(
      /^stopped: applied 2 migrations, \d+ are left, from 0003_\w+\.sql on; run the command again to continue\n$/,
    );
    expect(stderr()).toContain('If a migration runs now, it is completed first');
  });

  it('migrate brings the database up to date, makes it private, and ends', async () => {
    const env = { DATA_DIR: folder.path };
    openToAll(folder.path);
    const migrated = await runCli(['service', 'migrate'], env);
    expect(migrated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^applied \d+ migrations\n$/),
    });
    expect(`${migrated.stdout}${migrated.stderr}`.match(/0003_\w+/g)).toHaveLength(1);
    // Files from before and files of the migrations. PGlite sets the mode of its cache itself.
    const open = openToOthers(folder.path).filter((path) => !path.endsWith('/pg_internal.init'));
    expect(open).toEqual([]);
  });

  it('migrate reports a fault of its own by its exit code, also when nothing is left', async () => {
    const { terminal, stdout, stderr } = memoryTerminal();
    const { signals } = terminal;
    const whileItConnects = (act: () => void): void => {
      const onListener = (event: string): void => {
        if (event !== 'unhandledRejection') return;
        signals.off('newListener', onListener);
        queueMicrotask(act);
      };
      signals.on('newListener', onListener);
    };
    whileItConnects(() => signals.emit('SIGINT'));
    const migrated = (): Promise<number> =>
      runProgram(
        ['service', 'migrate'],
        { ...terminal, env: { ...terminal.env, DATA_DIR: folder.path } },
        (exitCode) => {
          throw new Error(`exit ${exitCode}`);
        },
      );
    expect(await migrated()).toBe(0);
    whileItConnects(() => signals.emit('uncaughtException', new Error('a bug')));
    expect(await migrated()).toBe(70);
    expect(stdout()).toBe('the database has all migrations\nthe database has all migrations\n');
    expect(stderr()).toContain('a bug');
  });

  it('answers until SIGTERM, and ends with 0', async () => {
    const { child, ended, seen } = startCli(['service'], {
      DATA_DIR: folder.path,
      PORT: '0',
      HOST: '127.0.0.1',
    });
    const log = await seen('stderr', /"port":\d+.*the API is served/);
    const port = Number(/"port":(\d+)/.exec(log)?.[1]);
    expect((await askService(port, '/-/readiness', { key: null })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, signal: null, stdout: '' });
  });

  it('stores credentials unencrypted for the previous release, and encrypts them at its next start', async () => {
    const key = `vk_${'0'.repeat(32)}`;
    const env = { DATA_DIR: folder.path, PORT: '0', HOST: '127.0.0.1', FIRST_API_KEY: key };
    const first = startCli(['service'], env);
    const port = Number(/"port":(\d+)/.exec(await first.seen('stderr', /"port":\d+/))?.[1]);
    const body = {
      name: 'Shop',
      locations: ['eu-west-1'],
      request: { url: 'https://user:correct-horse@shop.test/' },
    };
    const made = await askService(port, '/v1/checks/url', { key, method: 'POST', body });
    expect(made.status, made.text).toBe(201);
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await runCli(['service', 'decrypt'], { DATA_DIR: folder.path })).toMatchObject({
      code: 0,
      stdout: 'stored unencrypted again: the credentials of 1 check or location\n',
    });
    const next = startCli(['service'], env);
    await next.seen('stderr', /"changed":1.*stored credentials are encrypted/);
    next.child.kill('SIGTERM');
    expect(await next.ended).toMatchObject({ code: 0 });
    // Three processes, each with a database of its own to open.
  });

  /** The output of decrypt while something is wrong with the key file. */
  async function refusedWhile(breakFile: (file: string) => void): Promise<object> {
    const file = folder.file('encryption-key');
    const before = readFileSync(file);
    onTestFinished(() => writeFileSync(file, before));
    breakFile(file);
    const env = { DATA_DIR: folder.path, LOG_LEVEL: 'error' };
    const { code, stdout, stderr } = await runHere(['service', 'decrypt'], env);
    return { code, stdout, stderr, hasFile: existsSync(file) };
  }

  it('decrypts nothing with another key, and says so in one line', async () => {
    expect(await refusedWhile((file) => writeFileSync(file, 'ab'.repeat(32)))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: credentials of 1 check or location cannot be decrypted because none of the keys decrypts them: put the key that encrypted them after the other keys in ENCRYPTION_KEY, or its file back into DATA_DIR/encryption-key, and run vedette service decrypt again\n',
      hasFile: true,
    });
  });

  it('decrypts nothing without the key file, and creates none', async () => {
    expect(await refusedWhile((file) => rmSync(file))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: credentials of 1 check or location cannot be decrypted because DATA_DIR/encryption-key is missing: put the file back, or set ENCRYPTION_KEY to the key that encrypted them and run vedette service decrypt again\n',
      hasFile: false,
    });
  });

  it.each([['migrate'], ['decrypt']])(
    '%s names what to set where no database is named',
    async (command) => {
      expect(await runHere(['service', command], {})).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'vedette: neither DATABASE_URL nor DATA_DIR is set, so no database is named: set the same one as the service\n',
      });
    },
  );

  it('decrypts nothing without a database, and creates none', async () => {
    const none = makeTempFolder();
    onTestFinished(() => none.remove());
    const missing = none.file('data');
    expect(await runHere(['service', 'decrypt'], { DATA_DIR: missing })).toEqual({
      code: 2,
      stdout: '',
      stderr: `vedette: DATA_DIR is "${missing}", where there is no database: set DATABASE_URL or DATA_DIR as the service has it\n`,
    });
    expect(existsSync(missing)).toBe(false);
    copyEmptyDatabase(none.path);
    const env = { DATA_DIR: none.path, LOG_LEVEL: 'error' };
    expect(await runHere(['service', 'decrypt'], env)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: the database of DATA_DIR has no tables of the service: set DATABASE_URL or DATA_DIR as the service has it\n',
    });
    expect(existsSync(none.file('encryption-key'))).toBe(false);
  });

  it.each([
    ['migrate', ['DATABASE_URL', 'DATA_DIR', 'DATABASE_TIMEOUT_SECONDS', 'LOG_LEVEL']],
    [
      'decrypt',
      ['DATABASE_URL', 'DATA_DIR', 'ENCRYPTION_KEY', 'DATABASE_TIMEOUT_SECONDS', 'LOG_LEVEL'],
    ],
  ])('%s lists in its help the variables that it reads', async (command, names) => {
    const { code, stdout } = await runHere(['service', command, '--help'], {});
    expect(code).toBe(0);
    expect(stdout).toContain('(DATABASE_URL or DATA_DIR must be set):\n');
    const listed = [...stdout.matchAll(/^ {2}([A-Z_]{4,}) +\S/gm)].map(([, name]) => name);
    expect(listed).toEqual(names);
  });

  it('makes accounts with an admin key, and invites users to them by a link', async () => {
    const data = makeTempFolder();
    onTestFinished(() => data.remove());
    copyMigratedDatabase(data.path);
    const env = {
      DATA_DIR: data.path,
      LOG_LEVEL: 'error',
      PUBLIC_URL: 'https://status.example.org',
    };
    const none = await runHere(['user', 'add', 'ann@example.com'], env);
    expect(none).toMatchObject({
      code: 2,
      stderr: 'vedette: there is no account: create one with vedette account add NAME\n',
    });
    const made = await runHere(['account', 'add', 'Shop team'], env);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(
      /^account {2}[0-9a-f-]{36}\nkey {6}vk_[0-9a-f]{32} {2}\(admin; it is shown only once\)\n$/,
    );
    const invited = await runHere(['user', 'add', 'ann@example.com', '--role', 'admin'], env);
    expect(invited).toMatchObject({ code: 0, stderr: '' });
    expect(invited.stdout).toMatch(
      /^https:\/\/status\.example\.org\/invitations\/[\w-]{43}\nInvites ann@example\.com to Shop team with the role admin\. The link works once, until \S+Z\.\n$/,
    );
    expect((await runHere(['account', 'add', 'Other'], env)).code).toBe(0);
    const several = await runHere(['user', 'add', 'bob@example.com'], env);
    expect(several.stderr).toBe(
      'vedette: there are several accounts: name one with --account ACCOUNT\n',
    );
    const bob = await runHere(['user', 'add', 'bob@example.com', '--account', 'Shop team'], env);
    expect(bob.stdout).toContain('to Shop team with the role read.');
    const reset = await runHere(['user', 'reset-password', 'bob@example.com'], env);
    expect(reset).toMatchObject({
      code: 2,
      stderr:
        'vedette: no user has the email "bob@example.com": invite one with vedette user add EMAIL\n',
    });
    const guessed = await runHere(['user', 'add', 'eve@example.com', '--account', 'Other'], {
      ...env,
      PUBLIC_URL: '',
    });
    expect(guessed.stdout).toMatch(
      /^http:\/\/localhost:8080\/invitations\/.*\n.*\nThe address in the link is a guess, because PUBLIC_URL is not set: .*\n$/,
    );
    const wrong = await runHere(['user', 'add', 'bob'], env);
    expect(wrong).toMatchObject({ code: 2, stderr: 'vedette: "bob" is not an email address\n' });
  }, 180_000);

  it('names a wrong variable in one line, and shows no secret', async () => {
    expect(await runHere(['service'], { PORT: 'x' })).toMatchObject({
      code: 2,
      stderr: 'vedette: PORT is "x"; it must be a whole number from 0 to 65535\n',
    });
    const secret = await runHere(['service'], { DATABASE_URL: 'mysql://u:hunter2@db/v' });
    expect(secret.code).toBe(2);
    expect(secret.stderr).toMatch(/vedette: DATABASE_URL .*\n$/);
    expect(secret.stderr).not.toContain('hunter2');
  });

  const AWAY = { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/v' };

  it('migrate says in one line that the database is away, and ends', async () => {
    const ended = await runHere(['service', 'migrate'], AWAY);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      /^vedette: the service cannot start: the database cannot be reached: .+ DATABASE_URL is right, then start again\n$/,
    );
    expect(ended.stderr).not.toContain('hunter2');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'waits for its database until %s, and ends with 0',
    async (signal) => {
      const { child, ended, seen } = startCli(['service'], { ...AWAY, PORT: '0' });
      await seen('stderr', /"level":"warn".*waits for its database.*DATABASE_URL is right/);
      child.kill(signal);
      const { code, stderr } = await ended;
      expect(code).toBe(0);
      expect(stderr.match(/waits for its database/g)).toHaveLength(1);
      expect(stderr).not.toContain('hunter2');
    },
  );

  it
    .runIf(process.geteuid?.() === 0)
    .each([
      [['user', 'add', 'ann@example.com']],
      [['account', 'list']],
      [['service', 'migrate']],
      [['service']],
    ])('refuses root a database of another user before it writes: %j', async (args) => {
    const data = makeTempFolder();
    onTestFinished(() => data.remove());
    copyEmptyDatabase(data.path);
    const database = data.file('database');
    chownSync(database, NOBODY, NOBODY);
    const before = readdirSync(data.path, { recursive: true });
    const ended = await runHere(args, { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'error' });
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr: `vedette: the embedded database in ${data.path} belongs to user ${NOBODY}, who could no longer open it if root wrote to it: run the command as that user: setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups vedette ... (in a container: --user ${NOBODY}:${NOBODY}; under systemd: docker/README.md, "Commands under systemd")\n`,
    });
    expect(readdirSync(data.path, { recursive: true })).toEqual(before);
  });
});
