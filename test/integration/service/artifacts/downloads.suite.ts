import { beforeAll, describe, expect, it } from 'vitest';
import { forever, newContent } from '../../../support/artifacts/artifact-content.ts';
import {
  type ArtifactServer,
  download,
  listed,
  only,
  useParties,
} from '../../../support/service/artifact-service.ts';

/** Ranges, conditions and HEAD. */
export function artifactDownloads(server: () => ArtifactServer): void {
  describe('downloads', () => {
    const BYTES = 1000;
    const service = useParties(server, 'shared');
    const content = newContent(BYTES);
    const etag = `"${content.description.sha256}"`;
    let url = '';
    beforeAll(async () => {
      const { mine } = service();
      await mine.upload(content);
      ({ url } = await only(mine));
    });
    const ask = (range: Readonly<Record<string, string>>, method = 'GET') => {
      const { mine, app } = service();
      const headers = Object.fromEntries(
        Object.entries(range).map(([name, value]) => [name, value.replace('ETAG', etag)]),
      );
      return download(app.port, url, { key: mine.key, method, headers });
    };

    it.each([
      ['the start', { range: 'bytes=0-9' }, 0, 9],
      ['the middle', { range: 'bytes=10-19' }, 10, 19],
      ['the rest', { range: 'bytes=990-' }, 990, 999],
      ['the tail', { range: 'bytes=-5' }, 995, 999],
      ['more than there is', { range: 'bytes=995-2000' }, 995, 999],
      ['all and more from the end', { range: 'bytes=-2000' }, 0, 999],
      ['the same as before', { range: 'bytes=5-5', 'if-range': 'ETAG' }, 5, 5],
    ])('give %s', async (_what, headers, first, last) => {
      const got = await ask(headers);
      expect(got.status).toBe(206);
      expect(got.headers).toMatchObject({
        'content-range': `bytes ${first}-${last}/${BYTES}`,
        'content-length': String(last - first + 1),
        etag,
      });
      expect(got.body.equals(content.bytes.subarray(first, last + 1))).toBe(true);
    });

    it.each([
      ['several ranges', { range: 'bytes=0-1,5-6' }],
      ['another unit', { range: 'lines=0-1' }],
      ['no sense', { range: 'bytes=9-1' }],
      ['a range of something else', { range: 'bytes=0-1', 'if-range': '"other"' }],
      ['a range by weak comparison', { range: 'bytes=0-1', 'if-range': 'W/ETAG' }],
      ['a range by date', { range: 'bytes=0-1', 'if-range': 'Wed, 21 Oct 2015 07:28:00 GMT' }],
      ['what another has', { 'if-none-match': '"other"' }],
    ])('give all to %s', async (_what, headers) => {
      const got = await ask(headers);
      expect([got.status, got.headers['content-range']]).toEqual([200, undefined]);
      expect(got.body.equals(content.bytes)).toBe(true);
    });

    it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('are 416 for %s', async (range) => {
      const got = await ask({ range });
      expect([got.status, got.headers['content-range']]).toEqual([416, `bytes */${BYTES}`]);
    });

    it.each(['ETAG', 'W/ETAG', '"a", ETAG', '*'])('are 304 to whoever has %s', async (tag) => {
      for (const method of ['GET', 'HEAD']) {
        const got = await ask({ 'if-none-match': tag }, method);
        expect([got.status, got.headers.etag, got.body.length]).toEqual([304, etag, 0]);
      }
    });

    it('answer HEAD, which ignores ranges', async () => {
      const got = await ask({ range: 'bytes=0-1' }, 'HEAD');
      expect([got.status, got.body.length]).toEqual([200, 0]);
      expect(got.headers).toMatchObject({
        'content-length': String(BYTES),
        'content-type': 'application/vnd.tcpdump.pcap',
        'accept-ranges': 'bytes',
        etag,
      });
    });

    it('are answered with 404 if the content is lost', async () => {
      const { mine, contents } = service();
      const lost = newContent(BYTES);
      await mine.upload(lost, { name: 'lost' });
      await contents.remove({ ...lost.description, accountId: mine.accountId }, forever);
      const found = (await listed(mine)).find(({ name }) => name === 'lost');
      expect((await mine.ask(found?.url ?? '')).status).toBe(404);
      expect((await mine.ask(url)).status).toBe(200);
    });
  });
}
