import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { exactly, guardStored } from '../../../../src/service/object-store/streams.ts';

const forever = new AbortController().signal;

describe('a part of 10 bytes', () => {
  it('is not given out to its end before its source has ended', async () => {
    const source = new PassThrough();
    const chunks = exactly(source, 10, forever);
    source.write(Buffer.alloc(10));
    const next = chunks.next();
    source.write(Buffer.alloc(1));
    await expect(next).rejects.toMatchObject({
      code: 'ARTIFACT_PART_LENGTH',
      attributes: { expectedBytes: 10, receivedBytes: 11 },
    });
    expect(source.destroyed).toBe(false);
  });

  it('comes chunk by chunk where it is right', async () => {
    const source = new PassThrough();
    const chunks = exactly(source, 10, forever);
    source.write('01234');
    const first = chunks.next();
    source.end('56789');
    expect(String((await first).value)).toBe('01234');
    expect(String((await chunks.next()).value)).toBe('56789');
    expect((await chunks.next()).done).toBe(true);
  });
});

describe('stored content of 10 bytes', () => {
  const damaged = { code: 'ARTIFACT_DAMAGED' };

  it.each([9, 11])('is damaged where %i bytes come', async (bytes) => {
    const source = new PassThrough();
    const guarded = guardStored(source, 10, forever, (error) => error);
    source.end(Buffer.alloc(bytes));
    await expect(buffer(guarded)).rejects.toMatchObject(damaged);
  });

  it('is damaged where its source is closed without an error', async () => {
    const source = new PassThrough();
    const guarded = guardStored(source, 10, forever, (error) => error);
    source.write(Buffer.alloc(5));
    source.destroy();
    await expect(buffer(guarded)).rejects.toMatchObject(damaged);
  });

  it('closes its source when its reader goes', () => {
    const source = new PassThrough();
    const guarded = guardStored(source, 10, forever, (error) => error);
    const closed = new Promise((resolve) => source.once('close', resolve));
    guarded.destroy();
    return closed;
  });
});
