import { describe, expect, it } from 'vitest';
import { artifactIdOf, resultIdOf, sequenceIdOf } from '../../../../src/model/ids.ts';
import { MAX_ARTIFACTS_OF_RESULT } from '../../../../src/service/artifacts/uploads.ts';
import { MIN_PART_BYTES } from '../../../../src/service/object-store/artifact-store.ts';
import { partPath } from '../../../../src/wire/v1/artifacts.ts';
import { forever, newContent } from '../../../support/artifacts/artifact-content.ts';
import {
  type ArtifactAccount,
  type ArtifactServer,
  download,
  LIST,
  useParties,
} from '../../../support/service/artifact-service.ts';

const NAME = 'response-body';
/** Anybody can compute the id of a future result. */
const comingResult = (account: ArtifactAccount, slotMs: number): string =>
  resultIdOf(sequenceIdOf(account.checkId, account.slug, slotMs), 1);
const urlOf = (resultId: string): string => `/v1/artifacts/${artifactIdOf(resultId, NAME)}`;

/** The effects of an agent of one location on the artifacts of another. */
export function artifactLocations(server: () => ArtifactServer): void {
  describe('artifacts of two locations', () => {
    const service = useParties(server);
    const shownAt = async (account: ArtifactAccount, resultId: string): Promise<unknown> => {
      const listed = (await account.ask(LIST(account, resultId))).json;
      const { status } = await account.ask(urlOf(resultId));
      const { status: head } = await account.ask(urlOf(resultId), { method: 'HEAD' });
      return { listed: listed.map(({ sha256 }: { sha256: string }) => sha256), status, head };
    };
    const NOTHING = { listed: [], status: 404, head: 404 };

    it('are shown once the result is stored, and not before (trust model AN12)', async () => {
      const { mine, app } = service();
      const [resultId, content] = ['result-3', newContent(1000)];
      await mine.upload(content, { resultId, name: NAME });
      expect(await shownAt(mine, resultId)).toEqual(NOTHING);
      await mine.storeResult(resultId);
      const listed = [content.description.sha256];
      expect(await shownAt(mine, resultId)).toEqual({ listed, status: 200, head: 200 });
      const got = await download(app.port, urlOf(resultId), { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it('are not shown for any future result of another location (trust model AN11)', async () => {
      const { mine } = service();
      const liar = await mine.neighbour('aachen');
      const ids = Array.from({ length: 10 }, (_, slot) => comingResult(mine, slot * 10_000));
      for (const resultId of ids) {
        await liar.upload(newContent(100), { resultId, name: NAME });
        await mine.storeResult(resultId);
      }
      const shown = await Promise.all(ids.map((resultId) => shownAt(mine, resultId)));
      expect(shown).toEqual(ids.map(() => NOTHING));
    });

    it.each(['before', 'after'])(
      'keep no other from uploading the same %s (trust model AN11)',
      async (order) => {
        const { mine, app } = service();
        const liar = await mine.neighbour('aachen');
        const resultId = comingResult(mine, 0);
        const about = { resultId, name: NAME };
        const content = newContent(1000);
        if (order === 'before') await liar.upload(newContent(900), about);
        await mine.upload(content, about);
        if (order === 'after') await liar.upload(newContent(900), about);
        await mine.storeResult(resultId);
        const listed = [content.description.sha256];
        expect(await shownAt(mine, resultId)).toEqual({ listed, status: 200, head: 200 });
        const got = await download(app.port, urlOf(resultId), { key: mine.key });
        expect(got.body.equals(content.bytes)).toBe(true);
        // After another upload the result still has the same artifact.
        expect((await mine.begin(newContent(30), about)).json.parts).toEqual([]);
        expect(await shownAt(mine, resultId)).toMatchObject({ listed });
      },
    );

    it('are refused if another location made the stored result', async () => {
      const { mine } = service();
      const liar = await mine.neighbour('aachen');
      const refused = await liar.begin(newContent(10), { name: NAME });
      expect([refused.status, refused.json.attributes]).toEqual([
        404,
        { resource: 'result of this location' },
      ]);
    });

    it('are neither continued nor completed by another location (trust model AN11)', async () => {
      const { mine, app } = service();
      const liar = await mine.neighbour('aachen');
      const content = newContent(MIN_PART_BYTES + 1000);
      const { json: upload } = await mine.begin(content, { name: NAME });
      const { sha256, bytes } = content.description;
      const ofPreviousRelease = `${artifactIdOf('result-1', NAME)}.${sha256}.${bytes}`;
      for (const uploadId of [upload.uploadId, ofPreviousRelease]) {
        const url = partPath(uploadId, 1);
        const forged = { ...upload, uploadId, parts: [{ ...upload.parts[0], url }] };
        const [put] = await liar.putParts(forged, newContent(bytes));
        expect([put?.status, put?.json.attributes]).toEqual([404, { resource: 'upload' }]);
      }
      await mine.putParts(upload, content);
      expect((await liar.complete(upload)).json).toEqual({ complete: false, missing: [] });
      expect(await shownAt(mine, 'result-1')).toEqual(NOTHING);
      expect((await mine.complete(upload)).json.complete).toBe(true);
      expect((await liar.complete(upload)).json.complete).toBe(false);
      const got = await download(app.port, urlOf('result-1'), { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it('of the same content are uploaded separately, so neither can corrupt the other’s parts', async () => {
      const { mine, app } = service();
      const liar = await mine.neighbour('aachen');
      const content = newContent(1000);
      const resultId = 'result-of-liar';
      const { json: upload } = await mine.begin(content, { name: NAME });
      const { json: spoilt } = await liar.begin(content, { resultId, name: NAME });
      await mine.putParts(upload, content);
      await liar.putParts(spoilt, newContent(1000));
      expect((await liar.complete(spoilt)).json.complete).toBe(false);
      expect((await mine.complete(upload)).json.complete).toBe(true);
      const got = await download(app.port, urlOf('result-1'), { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it('do not count for a result of another location', async () => {
      const { mine } = service();
      const liar = await mine.neighbour('aachen');
      const resultId = comingResult(mine, 0);
      for (let n = 0; n < MAX_ARTIFACTS_OF_RESULT; n += 1) {
        await liar.begin(newContent(10), { resultId, name: `log-${n}` });
      }
      expect((await liar.begin(newContent(10), { resultId, name: NAME })).status).toBe(409);
      expect((await mine.begin(newContent(10), { resultId, name: NAME })).status).toBe(200);
    });

    it('that a replica of the previous release began are continued by the first location that does so', async () => {
      const { mine, store, contents, app } = service();
      const { accountId, checkId } = mine;
      const content = newContent(1000);
      const { sha256, bytes, contentType } = content.description;
      const artifactId = artifactIdOf('result-2', NAME);
      const uploadId = `${artifactId}.${sha256}.${bytes}`;
      await contents.begin({ ...content.description, accountId }, forever);
      await store.query(
        `insert into artifact_uploads (account_id, id, check_id, result_id, name, content_type, sha256, bytes,
           artifact_id)
         values ($1, $2, $3, 'result-2', $4, $5, $6, $7::bigint, $8)
         on conflict (account_id, id) do update set active_at = now()`,
        [accountId, uploadId, checkId, NAME, contentType, sha256, bytes, artifactId],
      );
      const headers = { 'content-type': 'application/octet-stream' };
      const part = { n: 1, url: partPath(uploadId, 1), method: 'PUT' as const, headers };
      const [put] = await mine.putParts({ uploadId, partBytes: bytes, parts: [part] }, content);
      expect(put?.status).toBe(204);
      const other = await mine.neighbour('bonn');
      expect((await other.complete({ uploadId })).json.complete).toBe(false);
      expect((await mine.complete({ uploadId })).json.complete).toBe(true);
      const got = await download(app.port, `/v1/artifacts/${artifactId}`, { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });
  });
}
