import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../../../../src/service/object-store/streams.ts';

const CHUNKS = ['one', 'two', 'three'].map((text) => Buffer.from(text));

function waitingSource(end: boolean): Readable {
  const source = new Readable({ read() {} });
  for (const chunk of CHUNKS) source.push(chunk);
  if (end) source.push(null);
  return source;
}

async function readAll(source: Readable): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(source)) chunks.push(chunk);
  return chunks;
}

describe('the chunks of a stream', () => {
  it('are handed on themselves, not joined into copies', async () => {
    const chunks = await readAll(waitingSource(true));
    expect(chunks).toHaveLength(CHUNKS.length);
    for (const [index, chunk] of chunks.entries()) expect(chunk).toBe(CHUNKS[index]);
  });

  it('leave the source alone when the reader stops early', async () => {
    const source = waitingSource(true);
    for await (const chunk of chunksOf(source)) {
      expect(chunk).toBe(CHUNKS[0]);
      break;
    }
    expect(source.destroyed).toBe(false);
    expect(source.isPaused()).toBe(true);
    expect(source.listenerCount('data')).toBe(0);
    expect((await readAll(source)).map(String).join()).toBe('two,three');
  });

  it('are pulled one at a time', async () => {
    let made = 0;
    const source = new Readable({
      highWaterMark: 1,
      read() {
        made += 1;
        this.push(made > 100 ? null : Buffer.from([made]));
      },
    });
    let read = 0;
    for await (const [value] of chunksOf(source)) {
      read += 1;
      expect(value).toBe(read);
      expect(made - read).toBeLessThan(4);
    }
    expect(read).toBe(100);
  });

  it('end with the error of a source that breaks', async () => {
    const source = waitingSource(false);
    const reading = readAll(source);
    source.destroy(new Error('the cable'));
    await expect(reading).rejects.toThrow('the cable');
  });

  it('end with an error where the source was destroyed before its end', async () => {
    const source = waitingSource(false);
    source.destroy();
    await expect(readAll(source)).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  });

  it('of a source that has ended are none', async () => {
    const source = waitingSource(true);
    await readAll(source);
    expect(await readAll(source)).toEqual([]);
  });
});
