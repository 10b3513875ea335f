import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../src/runtime/secret-box.ts';
import { createCredentialSealing } from '../../../src/service/features/credential-sealing.ts';
import { newPostgresDatabase, openOnPostgres } from '../../support/databases.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';

const BODY = '{"request": {"url": "https://user:correct-horse@shop.test/"}}';

it('credentials stay in clear while a replica of the release before reads them, and no longer', async () => {
  const databaseUrl = await newPostgresDatabase('migrated');
  const store = await openOnPostgres(databaseUrl);
  onTestFinished(() => store.close());
  await store.query(`insert into accounts (id, name) values ('mine', 'Mine')`);
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     values ('mine', 'shop', 'URL', 'Shop', true, false, 10, $1::jsonb)`,
    [BODY],
  );
  const stored = async (): Promise<string> => {
    const [row] = await store.query<{ text: string }>('select body::text as text from checks');
    return row?.text ?? '';
  };
  // It names itself as that release does.
  const before = new Client({ connectionString: databaseUrl, application_name: 'vedette' });
  await before.connect();
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const secrets = createSecretBox([randomBytes(KEY_BYTES)]);
  const sealing = createCredentialSealing({ store, clock, log, secrets });
  await sealing.begin();
  expect(sealing.isOn()).toBe(false);
  expect(records()).toMatchObject([
    { level: 'warn', msg: expect.stringContaining('a replica of a release before') },
  ]);
  expect(await stored()).toContain('correct-horse');

  await before.end();
  const ending = new AbortController();
  const kept = sealing.keep(ending.signal);
  onTestFinished(() => ending.abort());
  // PostgreSQL forgets a session a moment after it has ended.
  while (!sealing.isOn()) {
    await clock.advance(5000);
    await store.query('select 1');
  }
  await kept;
  expect(await stored()).not.toContain('correct-horse');
});
