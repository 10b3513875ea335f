import { describe, expect, it } from 'vitest';
import { BodyReader } from '../../../../../src/agent/probes/http/body-reader.ts';
import { SharedBodyRoom } from '../../../../../src/agent/probes/http/body-room.ts';

const KIB = 1024;

describe('SharedBodyRoom', () => {
  it('gives what it has to all together, and no more', () => {
    const shared = new SharedBodyRoom(100);
    const [a, b] = [shared.open(), shared.open()];
    expect([a.take(60), b.take(41), b.take(40), a.take(1)]).toEqual([true, false, true, false]);
    a.close();
    expect([shared.freeBytes, b.take(60)]).toEqual([60, true]);
    a.close();
    b.close();
    expect(shared.freeBytes).toBe(100);
  });
});

describe('a body reader with a room', () => {
  function readerIn(shared: SharedBodyRoom, ownBytes = 50 * KIB) {
    const room = shared.open();
    const limits = { contentEncoding: null, maxBytes: 1000 * KIB, keepBytes: 1000 * KIB };
    return { room, reader: new BodyReader({ ...limits, room: { ownBytes, shared: room } }) };
  }

  async function read(reader: BodyReader, body: Buffer, pieceBytes: number) {
    for (let at = 0; at < body.length; at += pieceBytes) {
      await reader.write(body.subarray(at, at + pieceBytes));
    }
    return reader.end();
  }

  const body = Buffer.from('0123456789'.repeat(20 * KIB));

  it.each([1000, 64 * KIB, body.length])(
    'keeps all while there is room (%i bytes a piece)',
    async (pieceBytes) => {
      const shared = new SharedBodyRoom(1000 * KIB);
      const { room, reader } = readerIn(shared);
      const { bytes, totalBytes } = await read(reader, body, pieceBytes);
      expect(bytes.equals(body)).toBe(true);
      expect(totalBytes).toBe(body.length);
      // What it holds beyond its own is counted, whole.
      expect(shared.freeBytes).toBeLessThanOrEqual(1000 * KIB - (body.length - 50 * KIB));
      room.close();
      expect(shared.freeBytes).toBe(1000 * KIB);
    },
  );

  it.each([1000, 64 * KIB, body.length])(
    'keeps its own bytes where there is none (%i bytes a piece)',
    async (pieceBytes) => {
      const { reader } = readerIn(new SharedBodyRoom(0));
      const { bytes, totalBytes, truncated } = await read(reader, body, pieceBytes);
      expect(bytes.equals(body.subarray(0, 50 * KIB))).toBe(true);
      expect({ totalBytes, truncated }).toEqual({ totalBytes: body.length, truncated: false });
    },
  );

  it('stops keeping where the room ends', async () => {
    const shared = new SharedBodyRoom(100 * KIB);
    const { reader } = readerIn(shared);
    const { bytes } = await read(reader, body, 1000);
    expect(bytes.length).toBeGreaterThanOrEqual(50 * KIB);
    expect(bytes.length).toBeLessThanOrEqual(150 * KIB);
    expect(bytes.equals(body.subarray(0, bytes.length))).toBe(true);
  });

  it('asks for nothing while a body is short', async () => {
    const shared = new SharedBodyRoom(100 * KIB);
    const { reader } = readerIn(shared);
    await read(reader, body.subarray(0, 50 * KIB), 100);
    expect(shared.freeBytes).toBe(100 * KIB);
  });
});
