import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { artifactUploadSchema } from '../../../../src/wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../../../src/wire/v1/limits.ts';
import type { TestContent } from '../../../support/artifacts/artifact-content.ts';
import { only, useArtifactServer, useParties } from '../../../support/service/artifact-service.ts';

const BLOCK = Buffer.alloc(65_536, 'vedette ');
/** Includes garbage that is not collected yet. The whole artifact would be 150 MB. */
const MAX_GROWN_BYTES = 96 * 1024 * 1024;

function blocks(bytes: number): Readable {
  function* chunks(): Generator<Buffer> {
    for (let left = bytes; left > 0; left -= BLOCK.length) {
      yield left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

describe('the largest artifact', () => {
  const service = useParties(useArtifactServer('pglite'));

  it('is uploaded and downloaded without buffering it in memory', async () => {
    const { mine, app } = service();
    const hash = createHash('sha256');
    for await (const chunk of blocks(MAX_ARTIFACT_BYTES)) hash.update(chunk);
    const sha256 = hash.digest('hex');
    const fields = { bytes: MAX_ARTIFACT_BYTES, sha256 };
    const begun = await mine.begin(
      { bytes: Buffer.alloc(0), description: fields } as TestContent,
      fields,
    );
    const upload = artifactUploadSchema.parse(begun.json);
    expect(upload.parts).toHaveLength(30);

    let peakBytes = 0;
    const watch = (): void => {
      const { arrayBuffers, heapUsed } = process.memoryUsage();
      peakBytes = Math.max(peakBytes, arrayBuffers + heapUsed);
    };
    watch();
    const startBytes = peakBytes;
    const agent = new Agent({ keepAlive: true });
    const host = { host: '127.0.0.1', port: app.port, agent };
    for (const part of upload.parts) {
      const put = request({
        ...host,
        path: part.url,
        method: 'PUT',
        headers: {
          ...part.headers,
          authorization: `Bearer ${mine.agentKey}`,
          'x-agent-protocol': '1',
          'content-length': upload.partBytes,
        },
      });
      const source = blocks(upload.partBytes);
      source.on('data', watch);
      source.pipe(put);
      const [answer]: IncomingMessage[] = await once(put, 'response');
      expect(answer?.statusCode).toBe(204);
      answer?.resume();
    }
    expect((await mine.complete(upload)).json.complete).toBe(true);

    const { url } = await only(mine);
    const headers = { authorization: `Bearer ${mine.key}` };
    const get = request({ ...host, path: url, headers }).end();
    const [response]: IncomingMessage[] = await once(get, 'response');
    if (response === undefined) throw new Error('no response');
    const got = createHash('sha256');
    for await (const chunk of response) {
      got.update(chunk);
      watch();
    }
    agent.destroy();
    expect(got.digest('hex')).toBe(sha256);
    expect(peakBytes - startBytes).toBeLessThan(MAX_GROWN_BYTES);
  });

  it('is closed when the client stops reading', async () => {
    const { mine, app } = service();
    const content = { bytes: Buffer.alloc(4_000_000, 1) };
    const sha256 = createHash('sha256').update(content.bytes).digest('hex');
    await mine.upload({ ...content, description: { sha256 } } as TestContent, { sha256 });
    const headers = { authorization: `Bearer ${mine.key}` };
    const get = request({
      host: '127.0.0.1',
      port: app.port,
      path: (await only(mine)).url,
      headers,
    });
    const [response]: IncomingMessage[] = await once(get.end(), 'response');
    response?.destroy();
    await app.inFlight.settled(new AbortController().signal);
    expect(app.inFlight.size).toBe(0);
    expect(app.logs.records().filter(({ level }) => level === 'error')).toEqual([]);
  });
});
