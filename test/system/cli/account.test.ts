import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { copyMigratedDatabase } from '../../support/database/new-database.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const data = makeTempFolder();
const env = { DATA_DIR: data.path, LOG_LEVEL: 'error', NO_COLOR: '1' };

beforeAll(() => copyMigratedDatabase(data.path));
afterAll(() => data.remove());

async function add(name: string): Promise<string> {
  const { stdout } = await runHere(['account', 'add', name], env);
  return /account {2}(\S+)/.exec(stdout)?.[1] ?? '';
}

async function addGroup(accountId: string): Promise<void> {
  const insert = `insert into check_groups (account_id, name) values ($1, 'All')`;
  await onStore((store) => store.query(insert, [accountId]));
}

/** Runs the command on a terminal with this input. */
async function runTyping(typed: string, ...args: readonly string[]) {
  const { terminal, stdout, stderr } = memoryTerminal({ isTTY: true }, typed);
  const code = await runProgram(args, { ...terminal, env }, () => {});
  return { code, stdout: stdout(), stderr: stderr() };
}

async function onStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
  const parts = { clock: systemClock, log: silentLog() };
  const store = await openStore(storeConfig({ dataDir: data.path }), parts);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

describe('vedette account', () => {
  it('adds an account once with --if-missing, with its key in a file for its owner only', async () => {
    const path = data.file('auto.key');
    const args = ['account', 'add', 'Auto', '--if-missing', '--key-file', path];
    const made = await runHere([...args, '--output', 'json'], env);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id, ...rest } = JSON.parse(made.stdout);
    expect(rest).toEqual({ name: 'Auto', created: true, keyFile: path });
    const key = readFileSync(path, 'utf8');
    expect(key).toMatch(/^vk_[0-9a-f]{32}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const again = await runHere([...args, '--output', 'json'], env);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('was not written') });
    expect(JSON.parse(again.stdout)).toEqual({ id, name: 'Auto', created: false });
    const pretty = await runHere(['account', 'add', 'Auto', '--if-missing'], env);
    expect(pretty.stdout).toBe(`account  ${id}  (already exists; nothing was changed)\n`);
    expect(readFileSync(path, 'utf8')).toBe(key);
    const { stdout } = await runHere(['account', 'list'], env);
    expect(stdout.match(/\tAuto\t/g)).toHaveLength(1);

    await add('Auto');
    const several = await runHere(['account', 'add', 'Auto', '--if-missing'], env);
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toContain('several accounts have the name "Auto"');
  });

  it('makes no account if its key cannot be written, and never replaces a file', async () => {
    const path = data.file('other.key');
    writeFileSync(path, 'old');
    const exists = await runHere(['account', 'add', 'Unkept', '--key-file', path], env);
    expect(exists).toMatchObject({ code: 2, stdout: '' });
    expect(exists.stderr).toContain(`--key-file ${path} exists`);
    expect(readFileSync(path, 'utf8')).toBe('old');
    const nowhere = data.file('no-folder/shop.key');
    const failed = await runHere(['account', 'add', 'Unkept', '--key-file', nowhere], env);
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toContain('cannot be written');
    expect((await runHere(['account', 'list'], env)).stdout).not.toContain('Unkept');
    const json = await runHere(['account', 'add', 'Kept', '--output', 'json'], env);
    expect(JSON.parse(json.stdout)).toEqual({
      ...{ id: expect.any(String), name: 'Kept', created: true },
      key: expect.stringMatching(/^vk_[0-9a-f]{32}$/),
    });
  });

  it('lists accounts as tab-separated lines in a pipe, and as a table on a terminal', async () => {
    const id = await add('Listed');
    const piped = await runHere(['account', 'list'], env);
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    const line = piped.stdout.split('\n').find((each) => each.startsWith(id)) ?? '';
    expect(line).toMatch(/^[\w-]+\tListed\t0\t0\t0\t1\t-\t\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const shown = await runTyping('', 'account', 'list');
    expect(shown.stdout).toMatch(/^ID +NAME +CHECKS/);
    expect(shown.stdout).toMatch(new RegExp(`^${id} {2}Listed +0 `, 'm'));
  });

  it('removes an account when its name is typed, and nothing when another one is', async () => {
    const id = await add('Typed');
    const other = await runTyping('Tiped\n', 'account', 'remove', 'Typed');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(`The account Typed (${id}) has 0 checks, 0 users`);
    expect(other.stderr).toContain('the entered text is not the name of the account');
    expect((await runHere(['account', 'list'], env)).stdout).toContain(id);
    const removed = await runTyping('Typed\n', 'account', 'remove', id);
    expect(removed.code, removed.stderr).toBe(0);
    expect(removed.stdout).toMatch(/^deleted the account Typed \([\w-]+\): 1 key/);
    expect((await runHere(['account', 'list'], env)).stdout).not.toContain(id);
  });

  it('removes an account without a terminal only with --yes and its name', async () => {
    const id = await add('Scripted');
    const asked = await runHere(['account', 'remove', id], env);
    expect(asked).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'vedette: there is no terminal on which to ask for the name of the account: give --yes NAME\n',
    });
    const wrong = await runHere(['account', 'remove', id, '--yes', id], env);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--yes is not the name of the account: nothing was deleted');
    const removed = await runHere(['account', 'remove', id, '--yes', 'Scripted'], env);
    expect(removed.code, removed.stderr).toBe(0);
    const again = await runHere(['account', 'remove', id, '--yes', 'Scripted'], env);
    expect(again).toMatchObject({
      code: 2,
      stderr: `vedette: there is no account with the id or the name "${id}": vedette account list shows all\n`,
    });
  });

  it('refuses to remove the account that users of OpenID Connect join', async () => {
    const id = await add('Joined');
    const oidc = {
      OIDC_ISSUER: 'https://id.example.org',
      OIDC_CLIENT_ID: 'vedette',
      OIDC_CLIENT_SECRET: 'secret',
      OIDC_ROLE_MAP: 'ops=admin',
      OIDC_ACCOUNT: id,
      PUBLIC_URL: 'https://status.example.org',
    };
    const args = ['account', 'remove', id, '--yes', 'Joined'];
    const refused = await runHere(args, { ...env, ...oidc });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('set OIDC_ACCOUNT to another one');
  });

  it('exports an account to stdout, or to a file that only its owner may read', async () => {
    const id = await add('Shop');
    const path = data.file('shop.yaml');
    writeFileSync(path, 'old');
    const empty = await runHere(['account', 'export', id, '--output', path], env);
    expect(empty).toMatchObject({ code: 2, stdout: '' });
    expect(empty.stderr).toContain('there is nothing to export');
    expect(readFileSync(path, 'utf8')).toBe('old');
    await addGroup(id);
    const printed = await runHere(['account', 'export', 'Shop'], env);
    expect(printed.code, printed.stderr).toBe(0);
    expect(printed.stdout).toMatch(/^# An account of Vedette/);
    expect(printed.stdout).toContain('\ngroups:\n  - id: all\n    name: All\n');
    expect(printed.stdout).toContain('# - Users, invitations, API keys and the audit log\n');
    expect(printed.stderr).toContain('vedette: not exported: Users, invitations');
    const saved = await runHere(['account', 'export', 'Shop', '--output', path], env);
    expect(saved).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(path, 'utf8')).toBe(printed.stdout);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(await runHere(['validate', path], env)).toMatchObject({ code: 0 });
  });

  it('makes no database where there is none, and says what to set', async () => {
    const folder = data.file('other');
    mkdirSync(folder);
    const listed = await runHere(['account', 'list'], { ...env, DATA_DIR: folder });
    expect(listed).toMatchObject({ code: 2, stdout: '' });
    expect(listed.stderr).toBe(
      `vedette: DATA_DIR is ${JSON.stringify(folder)}, where there is no database: set DATABASE_URL or DATA_DIR as the service has it\n`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not migrate the database of an earlier release', async () => {
    const deleted = await onStore((store) =>
      store.query<{ number: number; name: string; checksum: string }>(
        `delete from schema_migrations where number = (select max(number) from schema_migrations)
         returning number, name, checksum`,
      ),
    );
    const { number, name, checksum } = deleted[0] ?? { number: 0 };
    for (const args of [['list'], ['export', 'Old'], ['remove', 'Old', '--yes', 'Old']]) {
      const ran = await runHere(['account', ...args], env);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toContain(`(migration ${number - 1} of ${number})`);
      expect(ran.stderr).toContain('run vedette service migrate first');
    }
    // It fails if a command has applied the migration.
    const insert = 'insert into schema_migrations (number, name, checksum) values ($1, $2, $3)';
    await onStore((store) => store.query(insert, [number, name, checksum]));
  });

  it('exports from the database of a later release with a warning, and removes nothing from it', async () => {
    const id = await add('Later');
    await addGroup(id);
    await onStore((store) =>
      store.query(
        `insert into schema_migrations (number, name, checksum)
         select max(number) + 1, 'later.sql', 'later' from schema_migrations`,
      ),
    );
    const removed = await runHere(['account', 'remove', id, '--yes', 'Later'], env);
    const exported = await runHere(['account', 'export', id], { ...env, LOG_LEVEL: 'warn' });
    await onStore((store) => store.query("delete from schema_migrations where name = 'later.sql'"));
    expect(removed).toMatchObject({ code: 2, stdout: '' });
    expect(removed.stderr).toContain('run that of the later release');
    expect(exported.code, exported.stderr).toBe(0);
    expect(exported.stderr).toContain('the schema of a later release');
    expect(exported.stdout).toContain('\ngroups:\n');
  });
});
