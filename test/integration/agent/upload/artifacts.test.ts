import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { artifactIdOf } from '../../../../src/model/ids.ts';
import { MAX_ARTIFACT_BYTES, PATHS } from '../../../../src/wire/v1/limits.ts';
import { recordFor } from '../../../support/agent/spool.ts';
import { uploadFixture } from '../../../support/agent/upload-fixture.ts';
import {
  failing,
  read,
  reset,
  type Script,
  UploadService,
} from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';

const never = new AbortController().signal;
const RESULT = 'a-result';
const NAME = 'response-body';
const ID = artifactIdOf(RESULT, NAME);
const UPLOAD = `${RESULT}-${NAME}`;

function artifact(bytes: Uint8Array, fields = {}) {
  return {
    resultId: RESULT,
    checkId: 'a-check',
    name: NAME,
    contentType: 'text/html; charset=utf-8',
    bytes,
    ...fields,
  };
}

const isPart = ({ path }: { path: string }): boolean => path.includes('/parts/');
const partPath = (n: number): string => `${PATHS.artifacts}/${UPLOAD}/parts/${n}`;

/** Takes some of the request's body, then cuts the connection. */
const cut: Script = (request) => {
  request.once('data', () => request.socket.resetAndDestroy());
};

describe('an artifact', () => {
  it('is uploaded in parts after its result, and then removed', async () => {
    const { outbox, put, run, service, empty, state, folder, records } = await uploadFixture();
    const [resultId] = await put('one');
    const bytes = randomBytes(2500);
    expect(await outbox.add(artifact(bytes))).toEqual({ ok: true, asset: `/v1/artifacts/${ID}` });
    expect(readdirSync(folder.file('artifacts'))).toEqual([ID]);
    void run();
    await empty();
    await eventually(() => readdirSync(folder.file('artifacts')).length === 0);
    expect(service.taken).toEqual([resultId]);
    const upload = service.uploads.get(UPLOAD);
    expect(upload?.content?.equals(bytes)).toBe(true);
    expect(upload?.begin).toMatchObject({
      resultId: RESULT,
      checkId: 'a-check',
      name: NAME,
      contentType: 'text/html; charset=utf-8',
      bytes: 2500,
    });
    expect(service.seen.filter(isPart).map(({ body }) => body.length)).toEqual([1000, 1000, 500]);
    expect(service.seen[0]?.path).toBe(PATHS.results);
    expect(state.uploaded).toBe(2);
    expect(records()).toEqual([]);
  });

  it('continues from the last complete part after each interruption', async () => {
    const { outbox, run, service, empty, clock, waitMs, records } = await uploadFixture();
    service.partBytes = 100_000;
    const bytes = randomBytes(1_000_000);
    await outbox.add(artifact(bytes));
    for (const n of [2, 4, 6, 7, 10]) service.next(partPath(n), cut);
    void run();
    const waits: number[] = [];
    for (let failure = 0; failure < 5; failure += 1) {
      const delayMs = await waitMs();
      waits.push(delayMs);
      await clock.advance(delayMs);
    }
    await empty();
    expect(service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
    const sent = service.seen.filter(isPart).map(({ path }) => Number(path.split('/').at(-1)));
    expect(sent).toEqual([1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 7, 8, 9, 10, 10]);
    // Each attempt uploaded at least one more part.
    expect(waits).toEqual([900, 900, 900, 900, 900]);
    expect(records().map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('is uploaded further after a restart of the agent', async () => {
    const fixture = await uploadFixture();
    const bytes = randomBytes(5000);
    await fixture.outbox.add(artifact(bytes));
    fixture.service.next(partPath(4), reset);
    void fixture.run();
    await fixture.waitMs();
    await fixture.stop();
    const next = await fixture.start();
    void next.run();
    await next.empty();
    expect(fixture.service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
    expect(fixture.service.count(partPath(1))).toBe(1);
  });

  it('delays no result, however long it takes', async () => {
    const { outbox, put, run, service } = await uploadFixture();
    await outbox.add(artifact(randomBytes(100)));
    service.always(partPath(1), () => {});
    void run();
    await eventually(() => service.count(PATHS.artifacts) > 0);
    const [id] = await put('one');
    await eventually(() => service.taken.length > 0);
    expect(service.taken).toEqual([id]);
  });

  it('is sent to the signed addresses of an object store', async () => {
    const store = await UploadService.start();
    const { outbox, run, service, empty } = await uploadFixture({
      artifactOrigins: [store.url.origin],
    });
    const kept: Buffer[] = [];
    store.always('/', async (request, response) => {
      await read(request);
      response.writeHead(200).end();
    });
    service.storeUrl = store.url;
    const bytes = randomBytes(1500);
    await outbox.add(artifact(bytes));
    service.always(`${PATHS.artifacts}/`, async (request, response) => {
      await read(request);
      response.writeHead(200).end('{"complete":true,"missing":[]}');
    });
    void run();
    await empty();
    for (const { body, headers } of store.seen) {
      kept.push(body);
      expect(headers['x-amz-signed']).toBe('yes');
      expect(headers.authorization).toBeUndefined();
    }
    expect(Buffer.concat(kept).equals(bytes)).toBe(true);
  });

  it('is uploaded from the beginning where the service lost the upload', async () => {
    const { outbox, run, service, empty, clock, waitMs, rejected } = await uploadFixture();
    const bytes = randomBytes(1500);
    await outbox.add(artifact(bytes));
    service.next(partPath(2), failing(404, 'no such upload'));
    void run();
    await clock.advance(await waitMs());
    await empty();
    expect(service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
    expect(rejected).toEqual([]);
  });

  it.each([400, 413])(
    'that the service refuses with a %i is dropped, counted and logged',
    async (status) => {
      const { outbox, run, service, empty, rejected, records, folder } = await uploadFixture();
      await outbox.add(artifact(randomBytes(10)));
      service.next(PATHS.artifacts, failing(status, 'not that'));
      void run();
      await empty();
      await eventually(() => readdirSync(folder.file('artifacts')).length === 0);
      expect(rejected).toEqual([['artifact-note', 1]]);
      expect(records()).toMatchObject([
        { level: 'warn', id: ID, problem: expect.stringContaining('not that') },
      ]);
    },
  );

  it('waits while the service has no artifact endpoints, and is uploaded when it has', async () => {
    const { outbox, run, service, empty, clock, waitMs, rejected } = await uploadFixture();
    const bytes = randomBytes(10);
    await outbox.add(artifact(bytes));
    service.next(PATHS.artifacts, failing(404, 'Route POST:/agent/v1/artifacts not found'));
    void run();
    await clock.advance(await waitMs());
    await empty();
    expect(service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
    expect(rejected).toEqual([]);
  });

  it('is given up where its digest is wrong each time', async () => {
    const { outbox, run, service, empty, clock, waitMs, rejected } = await uploadFixture();
    await outbox.add(artifact(randomBytes(10)));
    service.always(`${PATHS.artifacts}/${UPLOAD}/complete`, async (request, response) => {
      await read(request);
      response.writeHead(200).end('{"complete":false,"missing":[1]}');
    });
    void run();
    for (let round = 1; round < 5; round += 1) await clock.advance(await waitMs());
    await empty();
    expect(rejected).toEqual([['artifact-note', 1]]);
    expect(service.count(PATHS.artifacts)).toBe(15 - 4);
  });

  it('that exceeds the body limit of a proxy is dropped after five uploads, and the log says what to set', async () => {
    const { outbox, run, service, empty, clock, waitMs, rejected, records } = await uploadFixture();
    await outbox.add(artifact(randomBytes(10)));
    service.always(partPath(1), async (request, response) => {
      await read(request);
      response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>nginx</h1>');
    });
    void run();
    for (let round = 1; round < 5; round += 1) await clock.advance(await waitMs());
    await empty();
    expect(rejected).toEqual([['artifact-note', 1]]);
    expect(records().at(-1)).toMatchObject({
      level: 'warn',
      id: ID,
      problem: expect.stringContaining('client_max_body_size 16m'),
      msg: 'an artifact was not complete after 5 uploads; dropped it',
    });
  });

  it('lets others be uploaded while it fails', async () => {
    const { outbox, spool, run, service, empty, clock, waitMs } = await uploadFixture();
    await outbox.add(artifact(randomBytes(10)));
    await outbox.add(artifact(randomBytes(20), { resultId: 'other' }));
    await spool.committed();
    service.next(partPath(1), failing(500));
    void run();
    await clock.advance(await waitMs());
    await empty();
    const order = service.seen.filter(isPart).map(({ path }) => path.split('/')[4]);
    expect(order).toEqual([UPLOAD, `other-${NAME}`, UPLOAD]);
  });

  it('is uploaded by the drain, or by the next process', async () => {
    const { outbox, uploader, service, spool } = await uploadFixture();
    await outbox.add(artifact(randomBytes(10)));
    await spool.committed();
    await uploader.flush(never);
    expect(service.uploads.size).toBe(1);
    expect(spool.depth.records).toBe(0);
    service.always(PATHS.artifacts, failing(401));
    await outbox.add(artifact(randomBytes(10), { resultId: 'other' }));
    await spool.committed();
    await uploader.flush(never);
    expect(spool.depth.records).toBe(1);
  });

  it('is given up and counted where its file is gone or damaged', async () => {
    const { outbox, run, spool, empty, folder, dropped, service } = await uploadFixture();
    await outbox.add(artifact(randomBytes(1000)));
    await spool.committed();
    truncateSync(folder.file(`artifacts/${ID}`), 500);
    void run();
    await empty();
    expect(dropped).toEqual([{ kind: 'artifact-note', count: 1, reason: 'damage' }]);
    expect(service.count(PATHS.artifacts)).toBe(0);
  });
});

describe('the artifact outbox', () => {
  it('saves an artifact once that is added twice', async () => {
    const { outbox, spool, folder } = await uploadFixture();
    const added = artifact(randomBytes(5000));
    const all = [outbox.add(added), outbox.add(added)];
    expect(await Promise.all(all)).toEqual(
      Array(2).fill({ ok: true, asset: `/v1/artifacts/${ID}` }),
    );
    await outbox.add(added);
    expect(spool.depth.records).toBe(1);
    expect(readdirSync(folder.file('artifacts'))).toEqual([ID]);
  });

  it('replaces an invalid content type by application/octet-stream', async () => {
    const { outbox, run, service, empty } = await uploadFixture();
    await outbox.add(artifact(randomBytes(10), { contentType: 'text/html; a="b"\r\nx' }));
    void run();
    await empty();
    expect(service.uploads.get(UPLOAD)?.begin.contentType).toBe('application/octet-stream');
  });

  it('takes artifacts up to the limit of the protocol, and says why it refuses larger ones', async () => {
    const { outbox, folder, spool } = await uploadFixture();
    const bytes = Buffer.alloc(MAX_ARTIFACT_BYTES + 1);
    expect(await outbox.add(artifact(bytes))).toEqual({
      ok: false,
      note: 'The artifact response-body (157286401 bytes) is not kept: the limit is 157286400 bytes',
    });
    expect(await outbox.add(artifact(Buffer.alloc(0)))).toMatchObject({ ok: false });
    expect(await outbox.add(artifact(randomBytes(1), { name: '../up' }))).toMatchObject({
      ok: false,
    });
    expect(existsSync(folder.file('artifacts'))).toBe(false);
    expect(spool.depth.records).toBe(0);
  });

  it('removes only files without a note at the start', async () => {
    const fixture = await uploadFixture();
    await fixture.outbox.add(artifact(randomBytes(10)));
    await fixture.stop();
    const orphan = artifactIdOf('another', NAME);
    writeFileSync(fixture.folder.file(`artifacts/${orphan}`), 'x');
    writeFileSync(fixture.folder.file(`artifacts/${orphan}.part`), 'x');
    writeFileSync(fixture.folder.file('artifacts/notes of somebody'), 'x');
    await fixture.start();
    expect(new Set(readdirSync(fixture.folder.file('artifacts')))).toEqual(
      new Set([ID, 'notes of somebody']),
    );
  });

  it('says why it cannot save an artifact, and leaves no partial file', async () => {
    const { outbox, folder, spool } = await uploadFixture();
    writeFileSync(folder.file('artifacts'), 'a file');
    const added = await outbox.add(artifact(randomBytes(10)));
    expect(added).toMatchObject({ ok: false, note: expect.stringMatching(/not kept: E/) });
    expect(spool.depth.records).toBe(0);
  });

  it('refuses to start where artifacts cannot be read', async () => {
    const fixture = await uploadFixture();
    await fixture.stop();
    writeFileSync(fixture.folder.file('artifacts'), 'a file');
    await expect(fixture.start()).rejects.toMatchObject({
      kind: 'config',
      code: 'DATA_DIR_UNUSABLE',
    });
  });

  it('takes nothing after it was closed', async () => {
    const { outbox, spool } = await uploadFixture();
    const adding = outbox.add(artifact(randomBytes(10)));
    await outbox.close();
    expect(await adding).toMatchObject({ ok: true });
    expect(spool.has('artifact-note', ID)).toBe(true);
    const late = await outbox.add(artifact(randomBytes(10), { resultId: 'late' }));
    expect(late).toMatchObject({ ok: false });
  });
});

const KIB = 1024;
const numbered = (n: number, bytes: number) =>
  artifact(randomBytes(bytes), { resultId: `result-${n}` });
const idOf = (n: number): string => artifactIdOf(`result-${n}`, NAME);

describe('the bound in bytes of spool and artifacts', () => {
  it('includes both: the oldest artifacts make room for new ones', async () => {
    const { outbox, spool, folder, dropped, records } = await uploadFixture({
      maxBytes: 1024 * KIB,
    });
    for (let n = 0; n < 6; n += 1) {
      expect(await outbox.add(numbered(n, 300 * KIB))).toMatchObject({ ok: true });
    }
    await spool.committed();
    expect(new Set(readdirSync(folder.file('artifacts')))).toEqual(new Set([3, 4, 5].map(idOf)));
    expect([0, 3].map((n) => spool.has('artifact-note', idOf(n)))).toEqual([false, true]);
    expect(dropped).toEqual(Array(3).fill({ kind: 'artifact-note', count: 1, reason: 'space' }));
    expect(records()).toMatchObject([{ level: 'warn', msg: expect.stringContaining('no space') }]);
    const huge = await outbox.add(numbered(9, 1100 * KIB));
    expect(huge).toMatchObject({ ok: false, note: expect.stringContaining('no room') });
    expect(readdirSync(folder.file('artifacts'))).toHaveLength(3);
  });

  it('drops artifacts before attempts and results', async () => {
    const { outbox, spool, folder, dropped } = await uploadFixture({ maxBytes: 1024 * KIB });
    for (let n = 0; n < 3; n += 1) await outbox.add(numbered(n, 200 * KIB));
    for (let n = 0; n < 10; n += 1) {
      spool.put(recordFor(`${n}`, { kind: n % 2 === 0 ? 'attempt' : 'result', bytes: 100 * KIB }));
      await spool.committed();
    }
    expect(readdirSync(folder.file('artifacts'))).toEqual([]);
    expect(dropped.map(({ kind }) => kind)).toEqual(Array(3).fill('artifact-note'));
    expect(spool.depth.records).toBe(10);
    expect(await outbox.add(numbered(9, 400 * KIB))).toMatchObject({ ok: false });
    expect(spool.depth.records).toBe(10);
  });

  it('is 32 MiB of memory for artifacts without DATA_DIR', async () => {
    const { outbox, run, service, empty, dropped } = await uploadFixture({ dataDir: null });
    service.partBytes = 4 * KIB * KIB;
    for (let n = 0; n < 4; n += 1) {
      expect(await outbox.add(numbered(n, 10 * KIB * KIB))).toMatchObject({ ok: true });
    }
    expect(dropped).toEqual([{ kind: 'artifact-note', count: 1, reason: 'space' }]);
    void run();
    await empty();
    expect([...service.uploads.keys()]).toEqual([1, 2, 3].map((n) => `result-${n}-${NAME}`));
  });

  it('drops artifacts whose notes the spool dropped for their age', async () => {
    const { outbox, spool, folder } = await uploadFixture({ maxAgeMs: 0 });
    await outbox.add(numbered(0, 10));
    await spool.committed();
    while (spool.depth.records > 0) await spool.batch(1000);
    await outbox.add(numbered(1, 10));
    expect(readdirSync(folder.file('artifacts'))).toEqual([idOf(1)]);
  });
});
