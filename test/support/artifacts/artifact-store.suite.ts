import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AbandonedUpload,
  type ArtifactDescription,
  type ArtifactStore,
  MIN_PART_BYTES,
  type UploadKey,
} from '../../../src/service/object-store/artifact-store.ts';
import type { ByteRange } from '../../../src/service/object-store/byte-range.ts';
import { cleanUpArtifacts } from '../../../src/service/object-store/clean-up.ts';
import { MAX_ARTIFACT_BYTES } from '../../../src/wire/v1/limits.ts';
import {
  beginUpload,
  forever,
  newContent,
  partStream,
  putMissing,
  readWhole,
  streamOf,
  uploadWhole,
} from './artifact-content.ts';

export interface StorageOfTest {
  /** Opens a store over this storage, like a new process. */
  open(): Promise<ArtifactStore>;
  /** All objects in the storage, to check that nothing was written. */
  contents(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

const MIB = 1024 * 1024;
/** Three parts, the last one short. */
const THREE_PARTS = 2 * MIN_PART_BYTES + MIB;
const HOUR_MS = 3_600_000;

/** Requirements of every store. The stores have parts of MIN_PART_BYTES. */
export function artifactStoreSuite(name: string, make: () => Promise<StorageOfTest>): void {
  describe(name, () => {
    let storage: StorageOfTest;
    let store: ArtifactStore;
    const stores: ArtifactStore[] = [];

    async function openStore(): Promise<ArtifactStore> {
      const opened = await storage.open();
      stores.push(opened);
      return opened;
    }

    beforeEach(async () => {
      storage = await make();
      store = await openStore();
    });
    afterEach(async () => {
      await Promise.all(stores.splice(0).map((opened) => opened.close()));
      await storage.remove();
    });

    async function listed(beforeMs: number): Promise<AbandonedUpload[]> {
      const found: AbandonedUpload[] = [];
      for await (const one of store.abandoned(beforeMs, forever)) found.push(one);
      return found;
    }

    describe('an upload', () => {
      it('returns an upload unchanged, with its content type', async () => {
        const content = newContent(THREE_PARTS, { contentType: 'text/plain; charset="utf-8"' });
        const stored = await uploadWhole(store, content);
        expect(stored).toMatchObject(content.description);
        expect(await store.stat(content.description, forever)).toEqual(stored);
        const opened = await store.open(content.description, null, forever);
        expect(opened).toMatchObject({ artifact: stored, first: 0, last: THREE_PARTS - 1 });
        expect((await buffer(opened.stream)).equals(content.bytes)).toBe(true);
      });

      it('needs one part for an upload of one byte', async () => {
        const content = newContent(1);
        const upload = await beginUpload(store, content);
        expect(upload.missing).toMatchObject([{ n: 1, offset: 0, bytes: 1 }]);
        await putMissing(store, upload, content);
        await store.complete(upload, forever);
        expect(await readWhole(store, content)).toEqual(content.bytes);
      });

      it('accepts an upload of the largest size and refuses one byte more with the limit', async () => {
        const largest = newContent(1, { bytes: MAX_ARTIFACT_BYTES });
        const upload = await beginUpload(store, largest);
        expect(upload.missing).toHaveLength(Math.ceil(MAX_ARTIFACT_BYTES / MIN_PART_BYTES));
        const over = newContent(1, { bytes: MAX_ARTIFACT_BYTES + 1 });
        await expect(store.begin(over.description, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_TOO_LARGE',
          kind: 'input',
          attributes: { limitBytes: 157_286_400, bytes: 157_286_401 },
        });
      });

      it('hides an upload until it is completed', async () => {
        const content = newContent(100);
        const upload = await beginUpload(store, content);
        await putMissing(store, upload, content);
        expect(await store.stat(content.description, forever)).toBeNull();
        await expect(readWhole(store, content)).rejects.toMatchObject({
          code: 'ARTIFACT_NOT_FOUND',
        });
        expect((await beginUpload(store, content)).missing).toEqual([]);
      });

      it('accepts the parts of an upload in any order', async () => {
        const content = newContent(THREE_PARTS);
        const upload = await beginUpload(store, content);
        for (const part of upload.missing.toReversed()) {
          await store.putPart(upload, part.n, partStream(content, part), forever);
        }
        await store.complete(upload, forever);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });

      it('continues an upload after the last complete part when the store restarts', async () => {
        const content = newContent(THREE_PARTS);
        const upload = await beginUpload(store, content);
        const [first, second] = upload.missing;
        if (first === undefined || second === undefined) throw new Error('too few parts');
        await store.putPart(upload, 1, partStream(content, first), forever);
        const half = streamOf(content.bytes.subarray(second.offset, second.offset + MIB));
        await expect(store.putPart(upload, 2, half, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_PART_LENGTH',
          attributes: { expectedBytes: MIN_PART_BYTES, receivedBytes: MIB },
        });
        store = await openStore();
        const resumed = await beginUpload(store, content);
        expect(resumed.uploadId).toBe(upload.uploadId);
        expect(resumed.missing.map(({ n }) => n)).toEqual([2, 3]);
        expect(await store.upload(upload, forever)).toMatchObject({ partBytes: MIN_PART_BYTES });
        await putMissing(store, resumed, content);
        await store.complete(resumed, forever);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });

      it('drops a part whose source fails, and accepts it again', async () => {
        const content = newContent(300_000);
        const upload = await beginUpload(store, content);
        const cut = new PassThrough();
        cut.write(content.bytes.subarray(0, 100_000));
        const put = store.putPart(upload, 1, cut, forever);
        cut.destroy(new Error('connection reset'));
        await expect(put).rejects.toMatchObject({ code: 'ARTIFACT_PART_LENGTH' });
        const { missing } = await store.upload(upload, forever);
        expect(missing.map(({ n }) => n)).toEqual([1]);
        await putMissing(store, upload, content);
        await store.complete(upload, forever);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });

      it('refuses a part that is too long, without destroying its source', async () => {
        // The whole allowed length arrives, chunk by chunk, before the first byte too many.
        const content = newContent(2 * 65_536);
        const upload = await beginUpload(store, content);
        const source = streamOf(Buffer.concat([content.bytes, Buffer.alloc(100_000)]), 65_536);
        await expect(store.putPart(upload, 1, source, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_PART_LENGTH',
          kind: 'input',
        });
        expect(source.destroyed).toBe(false);
        source.destroy();
        expect((await store.upload(upload, forever)).missing).toHaveLength(1);
      });

      it('refuses a part number outside of the upload’s plan', async () => {
        const upload = await beginUpload(store, newContent(10));
        for (const n of [0, 2, -1, 1.5, Number.NaN]) {
          const put = store.putPart(upload, n, streamOf(Buffer.alloc(10)), forever);
          await expect(put).rejects.toMatchObject({ code: 'ARTIFACT_INVALID' });
        }
      });

      it('refuses to complete an upload while parts are missing', async () => {
        const content = newContent(THREE_PARTS);
        const upload = await beginUpload(store, content);
        const [, second] = upload.missing;
        if (second === undefined) throw new Error('too few parts');
        await store.putPart(upload, 2, partStream(content, second), forever);
        await expect(store.complete(upload, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_PARTS_MISSING',
          attributes: { missing: [1, 3] },
        });
        expect((await store.upload(upload, forever)).missing.map(({ n }) => n)).toEqual([1, 3]);
      });

      it('refuses content that differs from the announced digest, and lets the upload begin again', async () => {
        const content = newContent(THREE_PARTS);
        const upload = await beginUpload(store, content);
        await putMissing(store, upload, newContent(THREE_PARTS));
        await expect(store.complete(upload, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_DIGEST_MISMATCH',
          kind: 'input',
        });
        expect(await store.stat(content.description, forever)).toBeNull();
        await expect(store.upload(upload, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_UPLOAD_NOT_FOUND',
        });
        const again = await beginUpload(store, content);
        expect(again.missing).toHaveLength(3);
        await putMissing(store, again, content);
        await store.complete(again, forever);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });

      it('does not find an upload that was never begun', async () => {
        const key: UploadKey = { accountId: 'acc_1', uploadId: `${'ab'.repeat(32)}.10` };
        const notFound = { code: 'ARTIFACT_UPLOAD_NOT_FOUND' };
        await expect(store.upload(key, forever)).rejects.toMatchObject(notFound);
        await expect(store.complete(key, forever)).rejects.toMatchObject(notFound);
        const put = store.putPart(key, 1, streamOf(Buffer.alloc(10)), forever);
        await expect(put).rejects.toMatchObject(notFound);
        expect(await store.discard(key, forever)).toBe(false);
      });

      it('separates two owners’ uploads of one content: neither changes nor ends the other', async () => {
        const content = newContent(1000);
        const begin = (owner: string) => beginUpload(store, content, owner);
        const [mine, theirs] = [await begin('one'), await begin('two')];
        expect(theirs.uploadId).not.toBe(mine.uploadId);
        await putMissing(store, theirs, newContent(1000));
        await expect(store.complete(theirs, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_DIGEST_MISMATCH',
        });
        await putMissing(store, mine, content);
        expect(await store.discard(theirs, forever)).toBe(false);
        await store.complete(mine, forever);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
        const found = await store.begin({ ...content.description, owner: 'two' }, forever);
        expect(found.state).toBe('present');
        for (const owner of ['', '../x', 'a/b', 'a.b', 'a'.repeat(65)]) {
          const begun = store.begin({ ...newContent(10).description, owner }, forever);
          await expect(begun).rejects.toMatchObject({ code: 'ARTIFACT_INVALID' });
        }
      });

      it('removes a discarded upload and lets it begin again', async () => {
        const content = newContent(100);
        const upload = await beginUpload(store, content);
        await putMissing(store, upload, content);
        expect(await store.discard(upload, forever)).toBe(true);
        expect(await storage.contents()).toEqual([]);
        expect((await beginUpload(store, content)).missing).toHaveLength(1);
      });
    });

    describe('the same content', () => {
      it('recognises content that the same account has already', async () => {
        const content = newContent(1000, { contentType: 'image/png' });
        await uploadWhole(store, content);
        const again = { ...content.description, contentType: 'text/plain' };
        expect(await store.begin(again, forever)).toMatchObject({
          state: 'present',
          artifact: { ...content.description, contentType: 'image/png' },
        });
        const stranger = { ...content.description, accountId: 'acc_2' };
        expect(await store.begin(stranger, forever)).toMatchObject({ state: 'uploading' });
        expect(await store.stat(stranger, forever)).toBeNull();
      });

      it('refuses an announcement of existing content with another length', async () => {
        const content = newContent(1000);
        await uploadWhole(store, content);
        const wrong = { ...content.description, bytes: 999 };
        await expect(store.begin(wrong, forever)).rejects.toMatchObject({
          code: 'ARTIFACT_INVALID',
        });
      });

      it('accepts concurrent uploads of the same content', async () => {
        const content = newContent(MIN_PART_BYTES + 1000);
        const others = await Promise.all([openStore(), openStore()]);
        const results = await Promise.all(
          [store, ...others].map(async (one) => {
            const begun = await one.begin(content.description, forever);
            // Another one was done before this one began.
            if (begun.state === 'present') return begun.artifact;
            // Each sends all parts, unaware of the others.
            await putMissing(one, begun.upload, content).catch(expectUploadGone);
            return one.complete(begun.upload, forever);
          }),
        );
        for (const result of results) expect(result).toMatchObject(content.description);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
        expect(await listed(Date.now() + HOUR_MS)).toEqual([]);
      });

      it('lets an upload be completed twice, also concurrently', async () => {
        const content = newContent(THREE_PARTS);
        const upload = await beginUpload(store, content);
        await putMissing(store, upload, content);
        const other = await openStore();
        const results = await Promise.all([
          store.complete(upload, forever),
          other.complete(upload, forever),
          store.complete(upload, forever),
        ]);
        results.push(await store.complete(upload, forever));
        for (const result of results) expect(result).toMatchObject(content.description);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });
    });

    describe('reading', () => {
      const ranges: readonly (readonly [ByteRange, number, number])[] = [
        [{ first: 0, last: 0 }, 0, 0],
        [{ first: 10, last: 19 }, 10, 19],
        [{ first: 99_990, last: null }, 99_990, 99_999],
        [{ first: 65_530, last: 65_545 }, 65_530, 65_545],
        [{ first: 99_000, last: 200_000 }, 99_000, 99_999],
        [{ lastBytes: 7 }, 99_993, 99_999],
        [{ lastBytes: 200_000 }, 0, 99_999],
      ];

      it('reads a byte range, limited to the end of the content', async () => {
        const content = newContent(100_000);
        await uploadWhole(store, content);
        for (const [range, first, last] of ranges) {
          const opened = await store.open(content.description, range, forever);
          expect(opened).toMatchObject({ first, last });
          expect(await buffer(opened.stream)).toEqual(content.bytes.subarray(first, last + 1));
        }
      });

      it('refuses a range outside of the content, with the length', async () => {
        const content = newContent(100);
        await uploadWhole(store, content);
        for (const range of [{ first: 100, last: null }, { lastBytes: 0 }]) {
          await expect(store.open(content.description, range, forever)).rejects.toMatchObject({
            code: 'ARTIFACT_RANGE',
            attributes: { bytes: 100 },
          });
        }
      });

      it('reads no faster than its consumer', async () => {
        const content = newContent(THREE_PARTS);
        await uploadWhole(store, content);
        const { stream } = await store.open(content.description, null, forever);
        await once(stream, 'readable');
        expect(stream.readableLength).toBeLessThan(MIB);
        expect((await buffer(stream)).equals(content.bytes)).toBe(true);
      });

      it('stops reading when its signal aborts', async () => {
        const content = newContent(THREE_PARTS);
        await uploadWhole(store, content);
        const stop = new AbortController();
        const { stream } = await store.open(content.description, null, stop.signal);
        await once(stream, 'readable');
        stop.abort(new Error('stopping'));
        await expect(buffer(stream)).rejects.toMatchObject({ name: 'AbortError' });
      });
    });

    describe('removing', () => {
      it('removes an artifact, which can then be uploaded again', async () => {
        const content = newContent(1000);
        await uploadWhole(store, content);
        const kept = newContent(1000);
        await uploadWhole(store, kept);
        expect(await store.remove(content.description, forever)).toBe(true);
        expect(await store.remove(content.description, forever)).toBe(false);
        expect(await store.stat(content.description, forever)).toBeNull();
        await expect(readWhole(store, content)).rejects.toMatchObject({
          code: 'ARTIFACT_NOT_FOUND',
        });
        expect((await readWhole(store, kept)).equals(kept.bytes)).toBe(true);
        await uploadWhole(store, content);
        expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
      });
    });

    describe('abandoned uploads', () => {
      it('lists only abandoned uploads, by their last activity', async () => {
        const done = newContent(100);
        await uploadWhole(store, done);
        const contents = [newContent(100), newContent(100, { accountId: 'acc_2' })];
        const open = await Promise.all(contents.map((content) => beginUpload(store, content)));
        expect(await listed(Date.now() - HOUR_MS)).toEqual([]);
        const found = await listed(Date.now() + HOUR_MS);
        const ids = (some: readonly UploadKey[]): Set<string> =>
          new Set(some.map(({ accountId, uploadId }) => `${accountId} ${uploadId}`));
        expect(found).toHaveLength(2);
        expect(ids(found)).toEqual(ids(open));
        for (const one of found) {
          expect(Math.abs(one.activeAtMs - Date.now())).toBeLessThan(HOUR_MS);
        }
        const nothing = { uploads: 0, leftovers: 0 };
        expect(await cleanUpArtifacts(store, Date.now() - HOUR_MS, forever)).toEqual(nothing);
        const cleaned = await cleanUpArtifacts(store, Date.now() + HOUR_MS, forever);
        expect(cleaned).toEqual({ uploads: 2, leftovers: 0 });
        expect(await listed(Date.now() + HOUR_MS)).toEqual([]);
        for (const one of open) {
          const gone = { code: 'ARTIFACT_UPLOAD_NOT_FOUND' };
          await expect(store.upload(one, forever)).rejects.toMatchObject(gone);
        }
        expect((await readWhole(store, done)).equals(done.bytes)).toBe(true);
      });
    });

    describe('names', () => {
      const digest = 'ab'.repeat(32);
      const good: ArtifactDescription = {
        accountId: 'acc_1',
        sha256: digest,
        bytes: 10,
        contentType: 'text/plain',
      };
      const accounts = [
        '',
        '.',
        '..',
        '../acc_1',
        'a/b',
        'a\\b',
        'a\0',
        'a%2fb',
        'ä',
        'a'.repeat(65),
      ];
      const digests = ['', `../${digest}`, digest.toUpperCase(), `${digest}0`, `${digest}/..`];
      const bad: readonly Partial<ArtifactDescription>[] = [
        ...accounts.map((accountId) => ({ accountId })),
        ...[...digests, `${digest}\n`, 'g'.repeat(64)].map((sha256) => ({ sha256 })),
        ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((bytes) => ({ bytes })),
        ...['', 'text', 'text/plain\r\nx: y', 'a b/c', 'text/plain;', `a/${'b'.repeat(400)}`].map(
          (contentType) => ({ contentType }),
        ),
      ];
      const invalid = { code: 'ARTIFACT_INVALID', kind: 'input' };

      it('refuses invalid names in begin', async () => {
        for (const wrong of bad) {
          const begun = store.begin({ ...good, ...wrong }, forever);
          await expect(begun, JSON.stringify(wrong)).rejects.toMatchObject(invalid);
        }
        expect(await storage.contents()).toEqual([]);
      });

      it('refuses names that are paths in all other methods', async () => {
        const keys = [
          ...accounts.map((accountId) => ({ ...good, accountId })),
          ...digests.map((sha256) => ({ ...good, sha256 })),
        ];
        for (const key of keys) {
          await expect(store.stat(key, forever)).rejects.toMatchObject(invalid);
          await expect(store.open(key, null, forever)).rejects.toMatchObject(invalid);
          await expect(store.remove(key, forever)).rejects.toMatchObject(invalid);
        }
        const uploads = [
          ...accounts.map((accountId) => ({ accountId, uploadId: `${digest}.10` })),
          ...['', '..', `${digest}`, `${digest}.0`, `${digest}.010`, `../${digest}.10`].map(
            (uploadId) => ({ accountId: 'acc_1', uploadId }),
          ),
          { accountId: 'acc_1', uploadId: `${digest}.${MAX_ARTIFACT_BYTES + 1}` },
        ];
        for (const key of uploads) {
          const put = store.putPart(key, 1, Readable.from([]), forever);
          await expect(put).rejects.toMatchObject(invalid);
          await expect(store.upload(key, forever)).rejects.toMatchObject(invalid);
          await expect(store.complete(key, forever)).rejects.toMatchObject(invalid);
          await expect(store.discard(key, forever)).rejects.toMatchObject(invalid);
        }
      });
    });

    describe('an aborted signal', () => {
      const reason = new Error('the service stops');

      it('rejects every call with the reason of an aborted signal', async () => {
        const content = newContent(10);
        const upload = await beginUpload(store, content);
        const gone = AbortSignal.abort(reason);
        await expect(store.begin(content.description, gone)).rejects.toBe(reason);
        await expect(store.upload(upload, gone)).rejects.toBe(reason);
        await expect(store.putPart(upload, 1, new PassThrough(), gone)).rejects.toBe(reason);
        await expect(store.complete(upload, gone)).rejects.toBe(reason);
        await expect(store.stat(content.description, gone)).rejects.toBe(reason);
        await expect(store.open(content.description, null, gone)).rejects.toBe(reason);
        await expect(store.remove(content.description, gone)).rejects.toBe(reason);
        await expect(store.discard(upload, gone)).rejects.toBe(reason);
      });

      it('aborts a part whose source stalls, and destroys the source', async () => {
        const content = newContent(300_000);
        const upload = await beginUpload(store, content);
        const still = new PassThrough();
        const stop = new AbortController();
        const put = store.putPart(upload, 1, still, stop.signal);
        // More than the stream's own buffer, so it drains only after the store has read from it.
        still.write(content.bytes.subarray(0, 100_000));
        await once(still, 'drain');
        stop.abort(reason);
        await expect(put).rejects.toBe(reason);
        expect(still.destroyed).toBe(true);
        expect((await store.upload(upload, forever)).missing).toHaveLength(1);
      });
    });
  });
}

/** Another client completed the content while this one was still sending parts. */
function expectUploadGone(error: unknown): void {
  expect(error).toMatchObject({ code: 'ARTIFACT_UPLOAD_NOT_FOUND' });
}
