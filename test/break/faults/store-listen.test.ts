import { cpSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { expect, inject, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { PgliteStore } from '../../../src/service/database/pglite/pglite.ts';
import { silentLog } from '../../support/database/silent-store.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

it('a listener ends even if the embedded database is unusable', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  cpSync(inject('pglite').emptyFolder, folder.path, { recursive: true });
  const db = await PGlite.create({ dataDir: folder.file('database') });
  const store = new PgliteStore(db, { clock: systemClock, log: silentLog() });
  const end = await store.listen('some_channel', () => {});
  await db.close();
  await expect(store.query('select 1')).rejects.toMatchObject({ kind: 'unavailable' });
  // The stop of the service awaits it together with others.
  await expect(end()).resolves.toBeUndefined();
});
