import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { uploadIdOf } from '../../../../src/service/object-store/names.ts';
import { completionPath } from '../../../../src/wire/v1/artifacts.ts';
import { forever, newContent } from '../../../support/artifacts/artifact-content.ts';
import {
  type ArtifactServer,
  LIST,
  listed,
  useParties,
  withBrokenDisk,
} from '../../../support/service/artifact-service.ts';

/** What the clean-up removes, and what it leaves. */
export function artifactCleanUps(server: () => ArtifactServer): void {
  describe('the clean-up of artifacts', () => {
    const service = useParties(server);
    const age = (table: string, column: string, days: number, where = 'true') =>
      service().store.query(
        `update ${table} set ${column} = now() - make_interval(days => $1::integer) where ${where}`,
        [days],
      );

    it('removes artifacts past the retention, with their contents', async () => {
      const { mine, artifacts, contents } = service();
      const { accountId } = mine;
      const [old, young] = [newContent(1000), newContent(1000)];
      await mine.upload(old, { name: 'old' });
      await mine.upload(young, { name: 'young' });
      await age('artifacts', 'created_at', 31, `name = 'old'`);
      await age('artifacts', 'created_at', 29, `name = 'young'`);
      expect(await artifacts.cleanUp(forever)).toMatchObject({ artifacts: 1, failed: 0 });
      expect((await listed(mine)).map(({ name }) => name)).toEqual(['young']);
      expect(await contents.stat({ ...old.description, accountId }, forever)).toBeNull();
      expect(await contents.stat({ ...young.description, accountId }, forever)).not.toBeNull();
      expect(await artifacts.cleanUp(forever)).toMatchObject({ artifacts: 0 });
    });

    it('removes and counts artifacts whose result did not arrive within a day', async () => {
      const { mine, contents, store, withContents } = service();
      const { accountId } = mine;
      const liar = await mine.neighbour('aachen');
      const [content, invented, young] = [newContent(1000), newContent(1000), newContent(1000)];
      const resultId = 'result-3';
      await mine.upload(content, { resultId });
      await liar.upload(invented, { resultId });
      // The same content as the one that stays.
      await liar.upload(content, { resultId, name: 'copy' });
      await mine.storeResult(resultId);
      await age('artifacts', 'created_at', 2);
      await liar.upload(young, { resultId: 'result-4' });
      const { app, artifacts } = await withContents(contents);
      const removed = { artifacts: 0, unclaimed: 2, uploads: 0, failed: 0 };
      expect(await artifacts.cleanUp(forever)).toEqual(removed);
      expect(await contents.stat({ ...invented.description, accountId }, forever)).toBeNull();
      expect(await contents.stat({ ...young.description, accountId }, forever)).not.toBeNull();
      const metrics = (await app.ask('/metrics')).text;
      expect(metrics).toContain('vedette_service_artifacts_unclaimed_total 2');
      // It stays until its own retention ends, even if its result is deleted before.
      await store.query('delete from check_results where id = $1', [resultId]);
      expect(await artifacts.cleanUp(forever)).toMatchObject({ unclaimed: 0 });
      const shown = (await mine.ask(LIST(mine, resultId))).json;
      expect(shown.map(({ sha256 }: { sha256: string }) => sha256)).toEqual([
        content.description.sha256,
      ]);
      expect((await mine.ask(shown[0].url)).status).toBe(200);
    });

    it('removes any number of artifacts, also of one shared content', async () => {
      const { mine, artifacts, store } = service();
      const { accountId, checkId, slug } = mine;
      // More than a pass takes at once.
      const insert = (count: number, days: number, resultId: string) =>
        store.query(
          `insert into artifacts (account_id, id, artifact_id, run_location, check_id, result_id, name,
             content_type, sha256, bytes, created_at)
           select $1, $3 || n, $3 || n, $4, $2, $3, 'log-' || n, 'text/plain', repeat('a', 64), 1,
             now() - make_interval(days => $5::integer)
           from generate_series(1, $6::integer) n`,
          [accountId, checkId, resultId, slug, days, count],
        );
      await insert(1_100, 31, 'result-old');
      await insert(600, 2, 'result-that-never-came');
      await insert(600, 2, 'result-1');
      expect(await artifacts.cleanUp(forever)).toEqual({
        artifacts: 1_100,
        unclaimed: 600,
        uploads: 0,
        failed: 0,
      });
      expect(await listed(mine)).toHaveLength(600);
    });

    it('keeps a content that another artifact has', async () => {
      const { mine, artifacts, contents } = service();
      const content = newContent(1000);
      const key = { ...content.description, accountId: mine.accountId };
      await mine.upload(content, { name: 'first' });
      await mine.upload(content, { name: 'second' });
      await age('artifacts', 'created_at', 31, `name = 'first'`);
      await artifacts.cleanUp(forever);
      expect((await listed(mine)).map(({ name }) => name)).toEqual(['second']);
      expect(await contents.stat(key, forever)).not.toBeNull();
      // Another upload of the same content has begun, and learned that it is stored already.
      const { json: upload } = await mine.begin(content, { name: 'third' });
      await age('artifacts', 'created_at', 31, `name = 'second'`);
      await artifacts.cleanUp(forever);
      expect((await mine.complete(upload)).json.complete).toBe(true);
      await age('artifacts', 'created_at', 31);
      await artifacts.cleanUp(forever);
      expect(await contents.stat(key, forever)).toBeNull();
    });

    it('removes uploads without progress, also complete ones that were never published', async () => {
      const { mine, artifacts, contents, store } = service();
      const { accountId } = mine;
      const content = newContent(1000);
      const { json: upload } = await mine.begin(content);
      await mine.putParts(upload, content);
      const { sha256, bytes } = content.description;
      const uploadId = uploadIdOf({ sha256, bytes, owner: mine.locationId });
      await contents.complete({ accountId, uploadId }, forever);
      await artifacts.cleanUp(forever);
      const rows = () =>
        store.query('select id from artifact_uploads where account_id = $1', [accountId]);
      expect(await rows()).toHaveLength(1);
      await age('artifact_uploads', 'active_at', 2);
      await artifacts.cleanUp(forever);
      expect(await rows()).toEqual([]);
      expect(await contents.stat({ accountId, sha256 }, forever)).toBeNull();
      expect((await mine.complete(upload)).json.complete).toBe(false);
    });

    it('keeps the rows if the content cannot be removed, and removes them later', async () => {
      const { mine, artifacts, folder, store } = service();
      await mine.upload(newContent(1000), { name: 'one' });
      await mine.upload(newContent(1000), { name: 'two' });
      await age('artifacts', 'created_at', 31);
      await withBrokenDisk(folder, async () => {
        expect(await artifacts.cleanUp(forever).catch(() => 'failed')).toBe('failed');
        const rows = await store.query('select id from artifacts where account_id = $1', [
          mine.accountId,
        ]);
        expect(rows).toHaveLength(2);
      });
      expect(await artifacts.cleanUp(forever)).toMatchObject({ artifacts: 2, failed: 0 });
      expect(await readdir(join(folder, 'scratch'))).toEqual([]);
    });

    it('continues with the others if one content cannot be removed', async () => {
      const { mine, contents, withContents } = service();
      const [stuck, other] = [newContent(1000), newContent(1000)];
      await mine.upload(stuck, { name: 'stuck' });
      await mine.upload(other, { name: 'other' });
      await age('artifacts', 'created_at', 31);
      const { artifacts } = await withContents({
        ...contents,
        remove: (key, signal) =>
          contents.remove(
            key.sha256 === stuck.description.sha256 ? { ...key, sha256: 'no digest' } : key,
            signal,
          ),
      });
      expect(await artifacts.cleanUp(forever)).toMatchObject({ artifacts: 1, failed: 1 });
      expect((await listed(mine)).map(({ name }) => name)).toEqual(['stuck']);
    });

    it('that removes a content just before its row exists costs only a new upload', async () => {
      const { mine, contents, withContents } = service();
      const content = newContent(1000);
      const key = { ...content.description, accountId: mine.accountId };
      const { app } = await withContents({
        ...contents,
        async complete(upload, signal) {
          const stored = await contents.complete(upload, signal);
          await contents.remove(key, signal);
          return stored;
        },
      });
      const { json: upload } = await mine.begin(content);
      await mine.putParts(upload, content);
      const headers = { 'x-agent-protocol': '1' };
      const ask = { key: mine.agentKey, method: 'POST', headers };
      expect((await app.ask(completionPath(upload.uploadId), ask)).json.complete).toBe(false);
      expect(await listed(mine)).toEqual([]);
      await mine.upload(content);
      expect(await listed(mine)).toHaveLength(1);
    });
  });
}
