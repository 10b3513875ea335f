import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { MAX_ARTIFACTS_OF_RESULT } from '../../../../src/service/artifacts/uploads.ts';
import { MIN_PART_BYTES } from '../../../../src/service/object-store/artifact-store.ts';
import { createS3Store } from '../../../../src/service/object-store/s3/s3.ts';
import {
  artifactUploadSchema,
  completionPath,
  partPath,
} from '../../../../src/wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../../../src/wire/v1/limits.ts';
import { forever, newContent } from '../../../support/artifacts/artifact-content.ts';
import { startS3Server } from '../../../support/artifacts/s3-server.ts';
import { silentLog } from '../../../support/database/databases.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import {
  type ArtifactServer,
  download,
  LIST,
  listed,
  only,
  useParties,
  withBrokenDisk,
} from '../../../support/service/artifact-service.ts';

/** Uploads of agents in parts. */
export function artifactUploads(server: () => ArtifactServer): void {
  describe('artifacts', () => {
    const service = useParties(server);

    it('are uploaded in parts, listed for their result, and downloaded unchanged', async () => {
      const { mine, app } = service();
      const content = newContent(MIN_PART_BYTES + 1000);
      const begun = await mine.begin(content);
      const upload = artifactUploadSchema.parse(begun.json);
      expect(upload.parts.map(({ n, url }) => [n, url])).toEqual([
        [1, partPath(upload.uploadId, 1)],
        [2, partPath(upload.uploadId, 2)],
      ]);
      const put = await mine.putParts(upload, content);
      expect(put.map(({ status }) => status)).toEqual([204, 204]);
      expect(await listed(mine)).toEqual([]);
      expect((await mine.complete(upload)).json).toEqual({ complete: true, missing: [] });
      expect(await listed(mine)).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          checkId: mine.checkId,
          resultId: 'result-1',
          name: 'capture.pcap',
          contentType: 'application/vnd.tcpdump.pcap',
          bytes: content.bytes.length,
          sha256: content.description.sha256,
          url: expect.stringMatching(/^\/v1\/artifacts\/[0-9a-f-]{36}$/),
          created_at: expect.stringMatching(/Z$/),
        },
      ]);
      const got = await download(app.port, (await only(mine)).url, { key: mine.key });
      expect([got.status, got.body.equals(content.bytes)]).toEqual([200, true]);
      expect(got.headers).toMatchObject({
        'content-length': String(content.bytes.length),
        'content-type': 'application/vnd.tcpdump.pcap',
        'content-disposition': 'attachment; filename="capture.pcap"',
        'accept-ranges': 'bytes',
        etag: `"${content.description.sha256}"`,
      });
    });

    it('that exist already need neither parts nor a second completion', async () => {
      const { mine } = service();
      const content = newContent(1000);
      const { json: upload } = await mine.begin(content);
      await mine.putParts(upload, content);
      await mine.complete(upload);
      expect((await mine.complete(upload)).json).toEqual({ complete: true, missing: [] });
      const again = await mine.begin(content);
      expect(again.json).toMatchObject({ uploadId: upload.uploadId, parts: [] });
      expect((await mine.complete(again.json)).json.complete).toBe(true);
      // The same content at another result is sent no second time, either.
      const elsewhere = await mine.begin(content, { resultId: 'result-2' });
      expect(elsewhere.json.parts).toEqual([]);
      expect((await mine.complete(elsewhere.json)).json.complete).toBe(true);
      expect((await mine.ask(LIST(mine, 'result-2'))).json).toHaveLength(1);
      expect(await listed(mine)).toHaveLength(1);
    });

    it('whose upload was interrupted continue with the missing parts', async () => {
      const { mine, app } = service();
      const content = newContent(MIN_PART_BYTES + 100_000);
      const { json: upload } = await mine.begin(content);
      await mine.putParts(upload, content, 1);
      const socket = connect(app.port, '127.0.0.1');
      const head = `PUT ${upload.parts[1].url} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${mine.agentKey}\r\nx-agent-protocol: 1\r\ncontent-type: application/octet-stream\r\ncontent-length: 100000\r\n\r\n`;
      const arrived = once(app.app.server, 'request');
      socket.write(head);
      socket.write(content.bytes.subarray(MIN_PART_BYTES, MIN_PART_BYTES + 50_000));
      const [, response] = await arrived;
      const gone = once(response, 'close');
      socket.destroy();
      await gone;
      expect(app.logs.records().filter(({ level }) => level === 'error')).toEqual([]);
      expect((await mine.complete(upload)).json).toEqual({ complete: false, missing: [2] });
      const again = await mine.begin(content);
      expect(again.json.uploadId).toBe(upload.uploadId);
      expect(again.json.parts.map(({ n }: { n: number }) => n)).toEqual([2]);
      await mine.putParts(again.json, content);
      expect((await mine.complete(again.json)).json.complete).toBe(true);
      const got = await download(app.port, (await only(mine)).url, { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it('with another digest than announced are discarded, and can be sent again', async () => {
      const { mine } = service();
      const content = newContent(1000);
      const { json: upload } = await mine.begin(content);
      await mine.putParts(upload, newContent(1000));
      expect((await mine.complete(upload)).json.complete).toBe(false);
      expect(await listed(mine)).toEqual([]);
      // A client that continues the discarded upload has to begin again.
      const [lost] = await mine.putParts(upload, content);
      expect([lost?.status, lost?.json.attributes]).toEqual([404, { resource: 'upload' }]);
      expect((await mine.complete(upload)).json.complete).toBe(false);
      await mine.upload(content);
      expect(await listed(mine)).toHaveLength(1);
    });

    it('over 150 MB are refused with 413 and the limit', async () => {
      const { mine } = service();
      const content = newContent(1);
      const most = await mine.begin(content, { bytes: MAX_ARTIFACT_BYTES });
      expect([most.status, most.json.parts.length]).toEqual([200, 30]);
      const over = await mine.begin(content, { bytes: MAX_ARTIFACT_BYTES + 1 });
      expect([over.status, over.json.attributes]).toEqual([
        413,
        { limitBytes: MAX_ARTIFACT_BYTES },
      ]);
    });

    it('accept only the announced parts, each of its length', async () => {
      const { mine } = service();
      const content = newContent(1000);
      const { json: upload } = await mine.begin(content);
      const put = (n: string, body: Buffer, headers: Record<string, string> = {}) =>
        mine.agent(`/agent/v1/artifacts/${upload.uploadId}/parts/${n}`, body, {
          method: 'PUT',
          headers: { 'content-type': 'application/octet-stream', ...headers },
        });
      for (const n of ['0', '2', '-1', '1.5', 'x', '99999999999']) {
        expect([n, (await put(n, content.bytes)).status]).toEqual([n, 400]);
      }
      expect((await put('1', content.bytes.subarray(1))).status).toBe(400);
      expect((await put('1', Buffer.alloc(2_000_000))).status).toBe(400);
      expect((await put('1', Buffer.alloc(0))).status).toBe(400);
      const typed = await put('1', content.bytes, { 'content-type': 'application/json' });
      expect([typed.status, typed.json.attributes]).toEqual([
        415,
        { allowed: ['application/octet-stream'] },
      ]);
      expect((await put('1', content.bytes, { 'content-encoding': 'gzip' })).status).toBe(415);
      expect((await mine.complete(upload)).json).toEqual({ complete: false, missing: [1] });
      expect((await put('1', content.bytes)).status).toBe(204);
      expect((await mine.complete(upload)).json.complete).toBe(true);
    });

    it('share neither uploads nor contents with another account', async () => {
      const { mine, theirs, app } = service();
      const content = newContent(1000);
      const { json: upload } = await mine.begin(content);
      const [put] = await theirs.putParts(upload, newContent(1000));
      expect(put?.status).toBe(404);
      expect((await theirs.complete(upload)).json.complete).toBe(false);
      await mine.putParts(upload, content);
      await mine.complete(upload);
      const { url } = await only(mine);
      expect((await theirs.ask(url)).status).toBe(404);
      expect((await theirs.ask(url, { method: 'HEAD' })).status).toBe(404);
      expect((await theirs.ask(LIST(mine))).status).toBe(404);
      // Whoever knows the digest must still send the content.
      expect((await theirs.begin(content)).json.parts).toHaveLength(1);
      const got = await download(app.port, url, { key: mine.key });
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it('belong only to results of the account’s checks that the own location made', async () => {
      const { mine, theirs } = service();
      const content = newContent(10);
      expect((await mine.begin(content, { checkId: theirs.checkId })).status).toBe(404);
      expect((await mine.begin(content, { checkId: 'no-such-check' })).status).toBe(404);
      await mine.storeResult('result-here');
      await mine.storeResult('result-there', 'elsewhere');
      expect((await mine.begin(content, { resultId: 'result-here' })).status).toBe(200);
      expect((await mine.begin(content, { resultId: 'result-there' })).status).toBe(404);
    });

    it('of one name for one result: the first complete one stays', async () => {
      const { mine, app, store } = service();
      const [first, second] = [newContent(1000), newContent(2000)];
      const { json: slow } = await mine.begin(second);
      await mine.upload(first);
      await mine.putParts(slow, second);
      expect((await mine.complete(slow)).json.complete).toBe(true);
      expect(await listed(mine)).toHaveLength(1);
      const got = await download(app.port, (await only(mine)).url, { key: mine.key });
      expect(got.body.equals(first.bytes)).toBe(true);
      expect((await mine.begin(newContent(30))).json.parts).toEqual([]);
      // The clean-up finds the content of the second one.
      await store.query(`update artifact_uploads set active_at = now() - interval '2 days'`);
      const { artifacts, contents } = service();
      await artifacts.cleanUp(forever);
      expect(
        await contents.stat({ ...second.description, accountId: mine.accountId }, forever),
      ).toBeNull();
    });

    it('are limited to the number that a result can name', async () => {
      const { mine } = service();
      const content = newContent(10);
      for (let n = 0; n < MAX_ARTIFACTS_OF_RESULT; n += 1) {
        expect((await mine.begin(content, { name: `log-${n}` })).status).toBe(200);
      }
      const over = await mine.begin(content, { name: 'one-more' });
      expect([over.status, over.json.attributes]).toEqual([
        409,
        { limit: MAX_ARTIFACTS_OF_RESULT },
      ]);
      expect((await mine.begin(content, { name: 'log-0' })).status).toBe(200);
      expect((await mine.begin(content, { resultId: 'result-2' })).status).toBe(200);
    });

    it('are read by users and sent by agents only', async () => {
      const { mine } = service();
      await mine.upload(newContent(10));
      const { url } = await only(mine);
      const readKey = (
        await mine.ask(`/v1/private-locations/${mine.locationId}/keys`, { method: 'POST' })
      ).json.key;
      for (const path of [url, LIST(mine)]) {
        expect((await mine.ask(path, { key: null })).status).toBe(401);
        expect((await mine.ask(path, { key: readKey })).status).toBe(401);
      }
      const path = completionPath('x');
      expect((await mine.agent(path, undefined, { key: mine.key })).status).toBe(401);
      expect((await mine.agent('/agent/v1/artifacts', {}, { key: null })).status).toBe(401);
      expect((await mine.ask(`${url}x`)).status).toBe(400);
      expect((await mine.ask(url, { method: 'DELETE' })).status).toBe(405);
    });

    it('are never displayed inline, whatever type an agent claims (trust model AC14, AN13)', async () => {
      const { mine, app } = service();
      await mine.upload(newContent(100), {
        name: 'page.html',
        contentType: 'text/html; charset=utf-8',
      });
      const got = await download(app.port, (await only(mine)).url, { key: mine.key });
      expect(got.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-disposition': 'attachment; filename="page.html"',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
      });
    });

    it('go directly to an object store that accepts them, without the key', async () => {
      const { mine, withContents } = service();
      const folder = makeTempFolder();
      const s3 = await startS3Server({ folder: folder.path });
      const contents = createS3Store(
        {
          bucket: s3.bucketName,
          prefix: '',
          region: s3.region,
          endpoint: s3.endpoint,
          pathStyle: true,
          credentials: s3.credentials,
          direct: { endpoint: null, expiresMs: 60_000 },
          partBytes: MIN_PART_BYTES,
        },
        { clock: systemClock, log: silentLog() },
      );
      try {
        const { app } = await withContents(contents);
        const content = newContent(MIN_PART_BYTES + 1000);
        const upload = artifactUploadSchema.parse((await mine.begin(content, {}, app)).json);
        for (const part of upload.parts) {
          expect(part.url.startsWith(`${s3.endpoint}/`)).toBe(true);
          const offset = (part.n - 1) * upload.partBytes;
          const body = content.bytes.subarray(offset, offset + upload.partBytes);
          const put = await request(part.url, {
            method: part.method,
            headers: part.headers,
            body,
          });
          expect(put.statusCode).toBe(200);
          await put.body.dump();
        }
        const ask = { key: mine.agentKey, method: 'POST', headers: { 'x-agent-protocol': '1' } };
        const completed = await app.ask(completionPath(upload.uploadId), ask);
        expect(completed.json).toEqual({ complete: true, missing: [] });
        const got = await download(app.port, (await only(mine)).url, { key: mine.key });
        expect(got.body.equals(content.bytes)).toBe(true);
        s3.fault(() => ({ kind: 'refuse', status: 403, code: 'AccessDenied' }));
        const refused = await app.ask((await only(mine)).url, { key: mine.key });
        expect([refused.status, refused.text.includes(s3.bucketName)]).toEqual([503, false]);
      } finally {
        await contents.close();
        await s3.close();
        folder.remove();
      }
    });

    it('that cannot be stored are answered with 503, without naming folders', async () => {
      const { mine, folder } = service();
      await withBrokenDisk(folder, async () => {
        const refused = await mine.begin(newContent(10));
        expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
        expect(refused.text).not.toContain(folder);
      });
      expect((await mine.begin(newContent(10))).status).toBe(200);
    });
  });
}

/** Names and ids that are made to do harm. */
export function hostileArtifacts(server: () => ArtifactServer): void {
  describe('artifacts of a hostile agent', () => {
    const service = useParties(server, 'shared');

    it.each([
      ['name', '../../etc/passwd'],
      ['name', 'a/b'],
      ['name', 'a\\b'],
      ['name', '.hidden'],
      ['name', 'a..b'],
      ['name', 'a"; filename="b.exe'],
      ['name', 'a\r\nset-cookie: x'],
      ['name', 'a\0'],
      ['name', 'ä.txt'],
      ['name', ''],
      ['name', 'a'.repeat(129)],
      ['contentType', 'text/html\r\nset-cookie: x=y'],
      ['contentType', 'html'],
      ['contentType', 'text/html, text/plain'],
      ['resultId', '../x'],
      ['resultId', "'; drop table artifacts; --"],
      ['checkId', 'a b'],
      ['bytes', 0],
      ['bytes', 1.5],
      ['bytes', -1],
      ['sha256', 'A'.repeat(64)],
      ['sha256', '../'.padEnd(64, '0')],
      ['sha256', '0'.repeat(63)],
    ])('are refused with %s %j', async (field, value) => {
      const { mine } = service();
      const refused = await mine.begin(newContent(10), { [field]: value });
      expect([refused.status, refused.json.message]).toEqual([
        400,
        expect.stringContaining(`body.${field}`),
      ]);
    });

    it.each([
      ['another form', 'x', 404],
      ['a path', '..%2f..%2fetc', 400],
      ['a digest of nothing', `${'0'.repeat(64)}.10`, 404],
      [
        'one that was never begun',
        `${'0'.repeat(8)}-0000-8000-8000-${'0'.repeat(12)}.${'0'.repeat(64)}.10`,
        404,
      ],
    ])('have no upload by the id of %s', async (_what, uploadId, status) => {
      const { mine } = service();
      const headers = { 'content-type': 'application/octet-stream' };
      const put = await mine.agent(`/agent/v1/artifacts/${uploadId}/parts/1`, Buffer.alloc(10), {
        method: 'PUT',
        headers,
      });
      expect(put.status).toBe(status);
    });
  });
}
