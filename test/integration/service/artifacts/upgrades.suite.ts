import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactIdOf } from '../../../../src/model/ids.ts';
import { MIGRATIONS_FOLDER, migrate } from '../../../../src/service/database/migrate.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import {
  forever,
  newContent,
  type TestContent,
  uploadWhole,
} from '../../../support/artifacts/artifact-content.ts';
import {
  type DatabaseKind,
  openTestStore,
  silentLog,
} from '../../../support/database/databases.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import {
  type ArtifactAccount,
  download,
  LIST,
  useArtifactServer,
  useParties,
} from '../../../support/service/artifact-service.ts';

/** The migrations that give artifacts to locations. */
const OF_LOCATIONS = ['0015_artifact_locations.sql', '0016_artifacts_before.sql'];
const NAME = 'response-body';

/**
 * As a database was before artifacts belonged to locations. All else is of this release, which creates
 * the accounts.
 */
async function openOfPreviousRelease(kind: DatabaseKind): Promise<Store> {
  const folder = makeTempFolder();
  const others = readdirSync(MIGRATIONS_FOLDER).filter((name) => !OF_LOCATIONS.includes(name));
  others.sort().forEach((name, index) => {
    const renumbered = `${String(index + 1).padStart(4, '0')}${name.slice(4)}`;
    cpSync(join(MIGRATIONS_FOLDER, name), folder.file(renumbered));
  });
  const store = await openTestStore(kind);
  await migrate(store, silentLog(), { folder: folder.path });
  folder.remove();
  return store;
}

async function upgrade(store: Store): Promise<void> {
  for (const name of OF_LOCATIONS) {
    const sql = readFileSync(join(MIGRATIONS_FOLDER, name), 'utf8');
    await store.transaction((tx) => tx.script(sql));
  }
}

/** Artifacts and uploads of the previous release, before and during the upgrade. */
export function artifactUpgrades(kind: DatabaseKind): void {
  describe('artifacts of the previous release', () => {
    const server = useArtifactServer(kind, openOfPreviousRelease);
    const service = useParties(server);

    /** The statement of the previous release. */
    async function insertAsBefore(
      account: ArtifactAccount,
      resultId: string,
      content: TestContent,
    ) {
      const { store, contents } = service();
      const { accountId, checkId } = account;
      const { sha256, bytes, contentType } = content.description;
      await uploadWhole(contents, {
        ...content,
        description: { ...content.description, accountId },
      });
      await store.query(
        `insert into artifacts (account_id, id, check_id, result_id, name, content_type, sha256, bytes)
         values ($1, $2, $3, $4, $5, $6, $7, $8::bigint)
         on conflict (account_id, id) do nothing`,
        [
          accountId,
          artifactIdOf(resultId, NAME),
          checkId,
          resultId,
          NAME,
          contentType,
          sha256,
          bytes,
        ],
      );
    }
    const digestsAt = async (account: ArtifactAccount, resultId: string): Promise<unknown> =>
      (await account.ask(LIST(account, resultId))).json.map(
        ({ sha256 }: { sha256: string }) => sha256,
      );

    it('are shown for the results of their location, also when an old replica stores them', async () => {
      const { mine, store, app, artifacts } = service();
      await store.query('select make_result_partitions(current_date - 3, current_date + 1)');
      const other = await mine.neighbour('aachen');
      const [stored, coming, late, invented] = [1, 2, 3, 4].map(() => newContent(1000));
      if (!stored || !coming || !late || !invented) throw new Error('four contents');
      await insertAsBefore(mine, 'result-1', stored);
      await insertAsBefore(mine, 'result-coming', coming);
      await insertAsBefore(mine, 'result-to-come', invented);
      await upgrade(store);

      const { sha256 } = stored.description;
      expect(await digestsAt(mine, 'result-1')).toEqual([sha256]);
      const url = `/v1/artifacts/${artifactIdOf('result-1', NAME)}`;
      const got = await download(app.port, url, { key: mine.key });
      expect(got.body.equals(stored.bytes)).toBe(true);
      expect((await mine.begin(newContent(10), { name: NAME })).json.parts).toEqual([]);
      expect((await other.begin(newContent(10), { name: NAME })).status).toBe(404);

      // A replica of the previous release still runs for a while.
      await insertAsBefore(mine, 'result-late', late);
      expect(await digestsAt(mine, 'result-late')).toEqual([]);
      const begunBefore = (id: string, ago: string) =>
        store.query(
          `insert into check_results (check_id, account_id, id, result_type, slot, created_at,
             has_failures, has_errors, run_location, check_type, body)
           values ($1, $2, $3, 'FINAL', now() - $5::interval, now(), true, false, $4, 'URL', '{}')`,
          [mine.checkId, mine.accountId, id, mine.slug, ago],
        );
      await begunBefore('result-coming', '1 minute');
      await begunBefore('result-late', '1 minute');
      // Uploaded before the run began, so not by the agent that made it.
      await begunBefore('result-to-come', '-1 minute');
      expect(await digestsAt(mine, 'result-coming')).toEqual([coming.description.sha256]);
      expect(await digestsAt(mine, 'result-late')).toEqual([late.description.sha256]);
      expect(await digestsAt(mine, 'result-to-come')).toEqual([]);

      await store.query(`update artifacts set created_at = created_at - interval '25 hours'`);
      await store.query(`update check_results set slot = slot - interval '25 hours'`);
      expect(await artifacts.cleanUp(forever)).toMatchObject({ unclaimed: 1, artifacts: 0 });
      for (const id of ['result-1', 'result-coming', 'result-late']) {
        expect(await digestsAt(mine, id)).toHaveLength(1);
      }
    });
  });
}
