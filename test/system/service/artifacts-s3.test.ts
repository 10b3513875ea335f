import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import {
  type ArtifactStore,
  MIN_PART_BYTES,
} from '../../../src/service/object-store/artifact-store.ts';
import { createS3Store } from '../../../src/service/object-store/s3/s3.ts';
import type { S3Options } from '../../../src/service/object-store/s3/s3-client.ts';
import {
  beginUpload,
  forever,
  newContent,
  partStream,
  putMissing,
  readWhole,
  streamOf,
  uploadWhole,
} from '../../support/artifacts/artifact-content.ts';
import { artifactStoreSuite } from '../../support/artifacts/artifact-store.suite.ts';
import { directUploadSuite } from '../../support/artifacts/direct-upload.suite.ts';
import type { S3Operation } from '../../support/artifacts/s3-operations.ts';
import { type S3Server, startS3Server } from '../../support/artifacts/s3-server.ts';
import { captureLog } from '../../support/log-capture.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

function optionsFor(server: S3Server, overrides: Partial<S3Options> = {}): S3Options {
  return {
    bucket: server.bucketName,
    prefix: '',
    region: server.region,
    endpoint: server.endpoint,
    pathStyle: true,
    credentials: server.credentials,
    direct: null,
    partBytes: MIN_PART_BYTES,
    ...overrides,
  };
}

async function storage(overrides: Partial<S3Options> = {}) {
  const folder = makeTempFolder();
  // With one entry per page every listing takes several requests.
  const server = await startS3Server({ folder: folder.path, pageSize: 1 });
  const { log } = captureLog();
  return {
    open: async () => createS3Store(optionsFor(server, overrides), { clock: systemClock, log }),
    contents: async () => [...server.bucket.objects.keys(), ...server.bucket.uploads.keys()],
    async remove() {
      await server.close();
      folder.remove();
    },
  };
}

artifactStoreSuite('artifacts in S3', () => storage({ prefix: 'vedette/' }));
directUploadSuite('direct uploads to S3', () =>
  storage({ direct: { endpoint: null, expiresMs: 60_000 } }),
);

describe('S3', () => {
  let folder: ReturnType<typeof makeTempFolder>;
  let server: S3Server;
  let store: ArtifactStore;
  const { log } = captureLog();
  const others: ArtifactStore[] = [];

  function another(overrides: Partial<S3Options>): ArtifactStore {
    const opened = createS3Store(optionsFor(server, overrides), { clock: systemClock, log });
    others.push(opened);
    return opened;
  }
  const asked = (operation: S3Operation): number =>
    server.operations.filter((one) => one === operation).length;
  /** Does this work, and holds its first request of this operation. Resolves when that came. */
  async function heldAt<T>(held: S3Operation, work: () => Promise<T>) {
    let release = (): void => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    let done: Promise<T> | null = null;
    await new Promise<void>((resolve) => {
      server.fault((operation) => {
        if (operation !== held) return null;
        server.fault(() => null);
        resolve();
        return { kind: 'wait', until };
      });
      done = work();
    });
    return {
      goOn(): Promise<T> {
        release();
        if (done === null) throw new Error('the work was not begun');
        return done;
      },
    };
  }

  beforeEach(async () => {
    folder = makeTempFolder();
    server = await startS3Server({ folder: folder.path });
    store = another({});
  });
  afterEach(async () => {
    await Promise.all(others.splice(0).map((one) => one.close()));
    await server.close();
    folder.remove();
  });

  it('requests to a busy S3 are retried a bounded number of times', async () => {
    const content = newContent(1000);
    const patient = another({ limits: { attempts: 3 } });
    let refusals = 2;
    server.fault((operation) => {
      if (operation !== 'HeadObject' || refusals === 0) return null;
      refusals -= 1;
      return { kind: 'refuse', status: 503, code: 'SlowDown' };
    });
    expect(await patient.stat(content.description, forever)).toBeNull();
    expect(asked('HeadObject')).toBe(3);
    server.fault(() => ({ kind: 'refuse', status: 503, code: 'SlowDown' }));
    await expect(patient.stat(content.description, forever)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
      kind: 'environment',
    });
    expect(asked('HeadObject')).toBe(6);
  });

  it('an S3 that does not answer is unavailable after the time limit', async () => {
    server.fault(() => ({ kind: 'silence' }));
    const hasty = another({ limits: { answerTimeoutMs: 50, attempts: 1 } });
    await expect(hasty.stat(newContent(1).description, forever)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
      attributes: { s3Code: 'ETIMEDOUT' },
    });
  });

  it('a request to an S3 that does not answer ends at once when the signal aborts', async () => {
    const reason = new Error('the service stops');
    const stop = new AbortController();
    const waiting = new Promise<void>((resolve) => {
      server.fault(() => {
        resolve();
        return { kind: 'silence' };
      });
    });
    const asking = store.stat(newContent(1).description, stop.signal);
    await waiting;
    stop.abort(reason);
    await expect(asking).rejects.toBe(reason);
  });

  it('an S3 that is not running is unavailable', async () => {
    const gone = await startS3Server({ folder: folder.path });
    await gone.close();
    const lost = another({ endpoint: gone.endpoint, limits: { attempts: 1 } });
    await expect(lost.stat(newContent(1).description, forever)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
      attributes: { s3Code: 'ECONNREFUSED' },
    });
  });

  it('wrong credentials and an unknown bucket are refused, and no secret is shown', async () => {
    const secretAccessKey = 'wrong-and-secret';
    const stranger = another({
      credentials: { accessKeyId: server.credentials.accessKeyId, secretAccessKey },
    });
    const content = newContent(10);
    // HEAD responses have no body with details of the 403.
    const begun = stranger.begin(content.description, forever);
    const error = await begun.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ARTIFACT_STORE_REFUSED', kind: 'environment' });
    expect(inspectDeep(error)).not.toMatch(/Signature=|wrong-and-secret/);
    const lost = another({ bucket: 'no-such-bucket' });
    await expect(beginUpload(lost, content)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_REFUSED',
      attributes: { s3Code: 'NoSuchBucket' },
    });
  });

  it.each<S3Operation>(['UploadPart', 'CompleteMultipartUpload', 'CopyObject'])(
    'that is full at %s says so, and shows nothing half',
    async (full) => {
      const content = newContent(MIN_PART_BYTES + 1000);
      const upload = await beginUpload(store, content);
      server.fault((operation) =>
        operation === full ? { kind: 'refuse', status: 507, code: 'XMinioStorageFull' } : null,
      );
      const brief = another({ limits: { attempts: 1 } });
      const work = putMissing(brief, upload, content).then(() => brief.complete(upload, forever));
      await expect(work).rejects.toMatchObject({
        code: 'ARTIFACT_STORE_FULL',
        kind: 'environment',
      });
      expect(await store.stat(content.description, forever)).toBeNull();
      server.fault(() => null);
      const again = await beginUpload(store, content);
      await putMissing(store, again, content);
      await store.complete(again, forever);
      expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
    },
  );

  it('a part that S3 cuts stays missing', async () => {
    const content = newContent(2 * MIB);
    const upload = await beginUpload(store, content);
    server.fault((operation) =>
      operation === 'UploadPart' ? { kind: 'cut', afterBytes: MIB } : null,
    );
    await expect(putMissing(store, upload, content)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
    });
    server.fault(() => null);
    expect((await store.upload(upload, forever)).missing).toHaveLength(1);
    await putMissing(store, upload, content);
    await store.complete(upload, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('an S3 that refuses a part is not sent the rest of it', async () => {
    const content = newContent(2 * MIB);
    const upload = await beginUpload(store, content);
    server.fault((operation) =>
      operation === 'UploadPart' ? { kind: 'refuse', status: 403, code: 'AccessDenied' } : null,
    );
    const [part] = upload.missing;
    if (part === undefined) throw new Error('no part');
    const source = partStream(content, part);
    await expect(store.putPart(upload, 1, source, forever)).rejects.toMatchObject({
      kind: 'environment',
    });
    source.destroy();
  });

  it('a read-back that S3 cuts is resumed at the next byte', async () => {
    const content = newContent(3 * MIB);
    const upload = await beginUpload(store, content);
    await putMissing(store, upload, content);
    let cuts = 2;
    // The state of the upload is a small object, read first, and must not be cut.
    server.fault((operation) => {
      if (operation !== 'GetObject' || asked('CompleteMultipartUpload') === 0 || cuts === 0) {
        return null;
      }
      cuts -= 1;
      return { kind: 'cut', afterBytes: MIB };
    });
    await store.complete(upload, forever);
    expect(cuts).toBe(0);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('a download that S3 cuts ends with an error', async () => {
    const content = newContent(2 * MIB);
    await uploadWhole(store, content);
    server.fault((operation) =>
      operation === 'GetObject' ? { kind: 'cut', afterBytes: MIB } : null,
    );
    await expect(readWhole(store, content)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
    });
  });

  it('an upload completes after a crash between joining and publishing', async () => {
    const content = newContent(MIN_PART_BYTES + 1000);
    const upload = await beginUpload(store, content);
    await putMissing(store, upload, content);
    server.fault((operation) =>
      operation === 'CopyObject' ? { kind: 'refuse', status: 500, code: 'InternalError' } : null,
    );
    const brief = another({ limits: { attempts: 1 } });
    await expect(brief.complete(upload, forever)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
    });
    expect(await store.stat(content.description, forever)).toBeNull();
    server.fault(() => null);
    expect((await beginUpload(store, content)).missing).toEqual([]);
    await store.complete(upload, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
    expect([...server.bucket.objects.keys()]).toHaveLength(1);
  });

  it('an upload that a lifecycle rule ended begins again', async () => {
    const content = newContent(MIN_PART_BYTES + 1000);
    const upload = await beginUpload(store, content);
    server.bucket.uploads.clear();
    const put = store.putPart(upload, 2, streamOf(content.bytes.subarray(MIN_PART_BYTES)), forever);
    await expect(put).rejects.toMatchObject({ code: 'ARTIFACT_UPLOAD_NOT_FOUND' });
    const again = await beginUpload(store, content);
    expect(again.missing).toHaveLength(2);
    await putMissing(store, again, content);
    await store.complete(again, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('an upload completes that another process published, and a third began anew, meanwhile', async () => {
    const content = newContent(1000);
    const upload = await beginUpload(store, content);
    await putMissing(store, upload, content);
    const [third, second] = [another({}), another({})];
    const begun = await heldAt('GetObject', () => third.begin(content.description, forever));
    const completed = await heldAt('GetObject', () => second.complete(upload, forever));
    await store.complete(upload, forever);
    expect(await begun.goOn()).toMatchObject({ state: 'uploading', upload: { missing: [{}] } });
    expect(await completed.goOn()).toMatchObject(content.description);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('an upload is stored already where another process began and completed it meanwhile', async () => {
    const content = newContent(1000);
    const second = another({});
    const opening = await heldAt('PutObject', () => second.begin(content.description, forever));
    const upload = await beginUpload(store, content);
    await putMissing(store, upload, content);
    // Its own multipart upload, since the state was there.
    const begun = await heldAt('AbortMultipartUpload', () => opening.goOn());
    await store.complete(upload, forever);
    expect(await begun.goOn()).toMatchObject({
      state: 'present',
      artifact: content.description,
    });
  });

  it('an S3 without conditional writes works', async () => {
    const content = newContent(1000);
    let refusals = 1;
    server.fault((operation) => {
      if (operation !== 'PutObject' || refusals === 0) return null;
      refusals -= 1;
      return { kind: 'refuse', status: 501, code: 'NotImplemented' };
    });
    await uploadWhole(another({ limits: { attempts: 1 } }), content);
    expect(refusals).toBe(0);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('uploads that a crash orphaned are listed', async () => {
    const content = newContent(1000);
    const upload = await beginUpload(store, content);
    // As if the process had ended before it wrote the state.
    server.bucket.objects.clear();
    expect(server.bucket.uploads.size).toBe(1);
    const found: string[] = [];
    for await (const one of store.abandoned(Date.now() + HOUR_MS, forever)) {
      found.push(one.uploadId);
      expect(await store.discard(one, forever)).toBe(true);
    }
    expect(found).toEqual([upload.uploadId]);
    expect(server.bucket.uploads.size).toBe(0);
  });

  it('a prefix that could make two keys equal is refused', () => {
    for (const prefix of ['../', '/', 'a', 'a//', 'a b/']) {
      expect(() => another({ prefix })).toThrow(expect.objectContaining({ kind: 'config' }));
    }
  });
});

/** Everything in an error that a logger could print, including causes. */
function inspectDeep(thrown: unknown): string {
  return inspect(thrown, { depth: 12, showHidden: true });
}
