import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { findActiveApiKeyByHash } from '../../../../src/service/api-keys/shared.sql.ts';
import { hashOfKey } from '../../../../src/service/http/access/key-hashes.ts';
import { runHere } from '../../../support/agent/cli.ts';
import { newPostgresDatabase, openOnPostgres } from '../../../support/database/databases.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import { listening } from '../../../support/servers/tcp-servers.ts';

/** The point at which the connection is lost while an account is inserted. */
type Cut = 'at the insert' | 'before COMMIT arrives' | 'before COMMIT is answered';

const INSERT = 'insert into accounts';
/** The message Query of the protocol ends with a zero byte. */
const COMMIT = 'commit\0';

/** Relays to PostgreSQL until the cut. Returns the URL of the relay. */
async function cuttingRelay(databaseUrl: string, cut: Cut): Promise<string> {
  const { port, hostname } = new URL(databaseUrl);
  const server = await listening(
    createServer((client) => {
      const upstream = connect(Number(port), hostname);
      const end = (): void => {
        client.destroy();
        upstream.destroy();
      };
      client.on('error', end).on('close', end);
      upstream.on('error', end).on('close', end);
      let hasInserted = false;
      let isAnswerLost = false;
      client.on('data', (bytes: Buffer) => {
        const isCommit = hasInserted && bytes.includes(COMMIT);
        hasInserted ||= bytes.includes(INSERT);
        isAnswerLost = isCommit && cut === 'before COMMIT is answered';
        const isLost = isCommit ? !isAnswerLost : hasInserted && cut === 'at the insert';
        if (isLost) end();
        else upstream.write(bytes);
      });
      upstream.on('data', (bytes: Buffer) => {
        if (isAnswerLost) end();
        else client.write(bytes);
      });
    }),
  );
  onTestFinished(() => server.close());
  const relay = new URL(databaseUrl);
  relay.port = String(server.port);
  return relay.href;
}

/** Adds the account through a relay that cuts the connection. */
async function addThrough(cut: Cut, keyFile: string | null) {
  const databaseUrl = await newPostgresDatabase('migrated');
  const file = keyFile === null ? [] : ['--key-file', keyFile];
  const ended = await runHere(['account', 'add', 'Shop', ...file], {
    DATABASE_URL: await cuttingRelay(databaseUrl, cut),
    LOG_LEVEL: 'error',
  });
  const listed = await runHere(['account', 'list'], { DATABASE_URL: databaseUrl });
  return { ended, databaseUrl, isThere: listed.stdout.includes('\tShop\t') };
}

const UNKNOWN = 'it is unknown whether the account "Shop" was created: COMMIT was not confirmed: ';

it.each([
  ['before COMMIT arrives', false],
  ['before COMMIT is answered', true],
] as const)(
  'keeps the key file of an account that may exist if the connection is lost %s',
  async (cut, isCreated) => {
    const path = `${makeTestFolder()}/shop.key`;
    const { ended, databaseUrl, isThere } = await addThrough(cut, path);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^vedette: .*\n$/);
    expect(ended.stderr).toContain(UNKNOWN);
    expect(ended.stderr).toContain(
      `; vedette account list shows whether it exists: if it does, its key is in ${path}; if not, remove the file and add the account again\n`,
    );
    expect(isThere).toBe(isCreated);
    const store = await openOnPostgres(databaseUrl);
    onTestFinished(() => store.close());
    const hash = hashOfKey(readFileSync(path, 'utf8').trim());
    expect((await findActiveApiKeyByHash(store, hash)) !== null).toBe(isCreated);
  },
);

it('says that the key is lost if an account may exist and its key was not written to a file', async () => {
  const { ended, isThere } = await addThrough('before COMMIT is answered', null);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(UNKNOWN);
  expect(ended.stderr).toContain('its key is lost: remove the account (vedette account remove ID)');
  expect(isThere).toBe(true);
});

it('removes the key file of an account that certainly does not exist', async () => {
  const path = `${makeTestFolder()}/shop.key`;
  const { ended, isThere } = await addThrough('at the insert', path);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).not.toContain('unknown whether');
  expect([isThere, existsSync(path)]).toEqual([false, false]);
});
