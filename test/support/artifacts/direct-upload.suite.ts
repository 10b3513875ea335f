import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArtifactStore, DirectPut } from '../../../src/service/object-store/artifact-store.ts';
import { MIN_PART_BYTES } from '../../../src/service/object-store/artifact-store.ts';
import { beginUpload, forever, newContent, readWhole } from './artifact-content.ts';
import type { StorageOfTest } from './artifact-store.suite.ts';

/** Uploads like an agent: uses only the service's answers. */
async function put(direct: DirectPut | null, body: Buffer): Promise<number> {
  if (direct === null) throw new Error('The part has no URL');
  const { method, headers } = direct;
  const answer = await request(direct.url, { method, headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

/** Requirements of presigned URLs. The stores have `direct` set, and parts of MIN_PART_BYTES. */
export function directUploadSuite(name: string, make: () => Promise<StorageOfTest>): void {
  describe(name, () => {
    let storage: StorageOfTest;
    let store: ArtifactStore;

    beforeEach(async () => {
      storage = await make();
      store = await storage.open();
    });
    afterEach(async () => {
      await store.close();
      await storage.remove();
    });

    it('uploads directly to the object store part by part, with the usual checks', async () => {
      const content = newContent(MIN_PART_BYTES + 1000);
      const upload = await beginUpload(store, content);
      const [first, second] = upload.missing;
      if (first === undefined || second === undefined) throw new Error('too few parts');
      expect(first.direct).toMatchObject({ method: 'PUT' });
      expect(first.direct?.expiresAtMs).toBeGreaterThan(Date.now());
      expect(await put(first.direct, content.bytes.subarray(0, MIN_PART_BYTES))).toBe(200);
      const left = await store.upload(upload, forever);
      expect(left.missing.map(({ n }) => n)).toEqual([2]);
      expect(await put(second.direct, content.bytes.subarray(MIN_PART_BYTES))).toBe(200);
      await store.complete(upload, forever);
      expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
    });

    it('refuses another part or another length with the same URL', async () => {
      const content = newContent(1000);
      const [part] = (await beginUpload(store, content)).missing;
      if (part?.direct == null) throw new Error('no URL');
      const { direct } = part;
      const otherPart = { ...direct, url: direct.url.replace('partNumber=1', 'partNumber=2') };
      expect(await put(otherPart, content.bytes)).toBe(403);
      const longer = { ...direct, headers: { 'content-length': '1001' } };
      expect(await put(longer, Buffer.alloc(1001))).toBe(403);
      expect(await put(direct, content.bytes)).toBe(200);
    });

    it('refuses a direct upload whose content differs from the announced digest', async () => {
      const content = newContent(1000);
      const upload = await beginUpload(store, content);
      expect(await put(upload.missing[0]?.direct ?? null, newContent(1000).bytes)).toBe(200);
      await expect(store.complete(upload, forever)).rejects.toMatchObject({
        code: 'ARTIFACT_DIGEST_MISMATCH',
      });
      expect(await store.stat(content.description, forever)).toBeNull();
    });
  });
}
