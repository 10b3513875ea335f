import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DATABASE,
  PREPARE,
  runCommand,
  runNode,
  WITH_SECRETS,
} from '../../support/compose/scripts.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const FILES = [
  'grafana/admin-password',
  'postgres/password',
  'service/DATABASE_URL',
  'service/ENCRYPTION_KEY',
  'service/FIRST_API_KEY',
  'service/S3_ACCESS_KEY_ID',
  'service/S3_SECRET_ACCESS_KEY',
  'store/ROOT_ACCESS_KEY',
  'store/ROOT_SECRET_KEY',
];

describe('prepare.mjs', () => {
  it('prepare.mjs creates each secret in the folder of the container that needs it', async () => {
    const made = await prepared(makeTestFolder());
    expect([...made.keys()]).toEqual(FILES);
    expect(made.get('service/FIRST_API_KEY')).toMatch(/^vk_[0-9a-f]{32}\n$/);
    expect(made.get('service/ENCRYPTION_KEY')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(made.get('service/DATABASE_URL')).toBe(
      `postgres://vedette:${made.get('postgres/password')?.trim()}@${DATABASE}\n`,
    );
    expect(made.get('service/S3_ACCESS_KEY_ID')).toBe(made.get('store/ROOT_ACCESS_KEY'));
    expect(made.get('service/S3_SECRET_ACCESS_KEY')).toBe(made.get('store/ROOT_SECRET_KEY'));
  });

  it('prepare.mjs creates different secrets for each installation', async () => {
    const [one, other] = [await prepared(makeTestFolder()), await prepared(makeTestFolder())];
    for (const name of FILES) expect(one.get(name), name).not.toBe(other.get(name));
  });

  it('the secrets can be read by the users of other images, who own none of the files', async () => {
    const folder = makeTestFolder();
    await prepared(folder);
    for (const name of FILES) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o644);
      expect(statSync(join(folder, name, '..')).mode & 0o777, name).toBe(0o755);
    }
  });

  it('prepare.mjs leaves existing secrets, and passes a replaced one to each of its users', async () => {
    const folder = makeTestFolder();
    const before = await prepared(folder);
    expect(await prepared(folder)).toEqual(before);

    writeFileSync(join(folder, 'postgres/password'), 'new/word');
    writeFileSync(join(folder, 'store/ROOT_SECRET_KEY'), '');
    const after = await prepared(folder);
    expect(after.get('service/DATABASE_URL')).toBe(`postgres://vedette:new%2Fword@${DATABASE}\n`);
    expect(after.get('store/ROOT_SECRET_KEY')).toMatch(/^[0-9a-f]{48}\n$/);
    expect(after.get('service/S3_SECRET_ACCESS_KEY')).toBe(after.get('store/ROOT_SECRET_KEY'));
    expect(after.get('service/ENCRYPTION_KEY')).toBe(before.get('service/ENCRYPTION_KEY'));
  });

  it('prepare.mjs ends with one line if it cannot write', async () => {
    const file = join(makeTestFolder(), 'a-file');
    writeFileSync(file, '');
    const { code, stderr } = await runNode([PREPARE, file, DATABASE]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^prepare: .+\n$/) });
    expect((await runNode([PREPARE])).stderr).toMatch(/^prepare: usage: /);
  });
});

describe('with-secrets.sh', () => {
  const show =
    'process.stdout.write(JSON.stringify([process.env.ONE, process.env.TWO, process.argv[1]]))';
  const run = (folder: string, ...more: readonly string[]) =>
    runCommand(['sh', WITH_SECRETS, folder, process.execPath, '-e', show, ...more]);

  it('with-secrets.sh gives a command each file as a variable, byte for byte', async () => {
    const folder = makeTestFolder();
    writeFileSync(join(folder, 'ONE'), 'with "quotes", $dollars, \\ and = and spaces  \n');
    writeFileSync(join(folder, 'TWO'), 'without a newline');
    writeFileSync(join(folder, '.TWO.new'), 'half written');
    const { code, stdout, stderr } = await run(folder, 'two words');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual([
      'with "quotes", $dollars, \\ and = and spaces  ',
      'without a newline',
      'two words',
    ]);
  });

  it.each([
    ['there are no secrets', []],
    ['a secret is empty', ['ONE']],
  ])('runs nothing where %s', async (_, names) => {
    const folder = makeTestFolder();
    for (const name of names) writeFileSync(join(folder, name), '');
    const { code, stdout, stderr } = await run(folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^with-secrets\.sh: .+\n$/);
  });

  it('with-secrets.sh replaces its shell by the command, so signals reach it', async () => {
    const folder = makeTestFolder();
    writeFileSync(join(folder, 'ONE'), 'a');
    const child = await runCommand([
      'sh',
      '-c',
      `sh "$0" "$@" & wait $! ; echo "$! $?"`,
      WITH_SECRETS,
      folder,
      process.execPath,
      '-e',
      'process.stdout.write(process.pid + " "); process.exitCode = 7',
    ]);
    const [own, shells, code] = child.stdout.trim().split(' ');
    expect([own, code]).toEqual([shells, '7']);
  });
});

/** Every file by its name, after a successful run. */
async function prepared(folder: string): Promise<ReadonlyMap<string, string>> {
  const { code, stderr } = await runNode([PREPARE, folder, DATABASE]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort((one, other) => one.localeCompare(other));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
