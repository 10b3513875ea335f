import { describe, expect, it } from 'vitest';
import {
  type BodyMemory,
  SharedBodyMemory,
} from '../../../../../../src/agent/probes/http/body/body-memory.ts';
import { BodyReader } from '../../../../../../src/agent/probes/http/body/body-reader.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';

const KIB = 1024;

describe('SharedBodyMemory', () => {
  it('gives all bodies together no more than it has', () => {
    const shared = new SharedBodyMemory(100);
    const [a, b] = [shared.open(true), shared.open(true)];
    const take = (room: BodyMemory, bytes: number) => room.take(bytes, 'assertions');
    expect([take(a, 60), take(b, 41), take(b, 40), take(a, 1)]).toEqual([true, false, true, false]);
    a.close();
    expect([shared.freeBytes, take(b, 60)]).toEqual([60, true]);
    a.close();
    b.close();
    expect(shared.freeBytes).toBe(100);
  });
});

describe('memory that is waited for', () => {
  const wait = (clock: FakeClock, signal = new AbortController().signal) => {
    return { clock, waitMs: 1_000, signal, keepsDetail: true };
  };

  it('goes to the first waiter, and not to bodies for display', async () => {
    const clock = new FakeClock();
    const shared = new SharedBodyMemory(100);
    const taken = shared.open(true);
    expect(taken.take(80, 'assertions')).toBe(true);
    const first = shared.reserve(90, wait(clock));
    const second = shared.reserve(10, wait(clock));
    expect(shared.open(true).take(1, 'detail')).toBe(false);
    taken.close();
    const [a, b] = await Promise.all([first, second]);
    expect([a?.take(90, 'assertions'), b?.take(11, 'assertions')]).toEqual([true, false]);
    a?.close();
    b?.close();
    expect(shared.freeBytes).toBe(100);
  });

  it('is reserved for the waiters, whatever other attempts request', async () => {
    const clock = new FakeClock();
    const shared = new SharedBodyMemory(100);
    const [older, newer] = [shared.open(true), shared.open(true)];
    const take = (room: BodyMemory) => room.take(30, 'assertions');
    expect([take(older), take(newer)]).toEqual([true, true]);
    const waiting = shared.reserve(90, wait(clock));
    // Each would leave less than the waiter needs, as long as it lasts.
    older.close();
    expect([take(newer), take(shared.open(true))]).toEqual([false, false]);
    newer.close();
    const room = await waiting;
    expect(room?.take(90, 'assertions')).toBe(true);
    room?.close();
    expect([take(shared.open(true)), shared.freeBytes]).toEqual([true, 70]);
  });

  it('lets a body with a reservation grow while others wait', async () => {
    const clock = new FakeClock();
    const shared = new SharedBodyMemory(100);
    const first = await shared.reserve(50, wait(clock));
    const second = shared.reserve(90, wait(clock));
    expect(first?.take(60, 'assertions')).toBe(true);
    first?.close();
    expect(await second).not.toBe(null);
  });

  it('goes to the next waiter when the time is up or the signal aborts', async () => {
    const clock = new FakeClock();
    const shared = new SharedBodyMemory(100);
    shared.open(true).take(60, 'assertions');
    const stop = new AbortController();
    const [large, next] = [
      shared.reserve(90, wait(clock, stop.signal)),
      shared.reserve(40, wait(clock)),
    ];
    stop.abort();
    expect([await large, (await next)?.take(40, 'detail')]).toEqual([null, true]);
    const late = shared.reserve(1, wait(clock));
    clock.advance(1_000);
    expect(await late).toBe(null);
    expect(await shared.reserve(1, wait(clock, AbortSignal.abort()))).toBe(null);
    expect(shared.freeBytes).toBe(0);
  });

  it('is limited to half of all for bodies for display', () => {
    const shared = new SharedBodyMemory(100);
    expect(shared.open(false).take(1, 'detail')).toBe(false);
    const room = shared.open(true);
    expect([room.take(50, 'detail'), room.take(1, 'detail'), room.take(50, 'assertions')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('a body reader with shared memory', () => {
  function readerIn(shared: SharedBodyMemory, ownBytes = 50 * KIB) {
    const room = shared.open(true);
    const limits = { contentEncoding: null, maxBytes: 1000 * KIB, keepBytes: 1000 * KIB };
    return {
      room,
      reader: new BodyReader({ ...limits, memory: { ownBytes, shared: room, use: 'assertions' } }),
    };
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
      const shared = new SharedBodyMemory(1000 * KIB);
      const { room, reader } = readerIn(shared);
      const { bytes, totalBytes } = await read(reader, body, pieceBytes);
      expect(bytes.equals(body)).toBe(true);
      expect(totalBytes).toBe(body.length);
      // Everything beyond its own bytes is counted.
      expect(shared.freeBytes).toBeLessThanOrEqual(1000 * KIB - (body.length - 50 * KIB));
      room.close();
      expect(shared.freeBytes).toBe(1000 * KIB);
    },
  );

  it.each([1000, 64 * KIB, body.length])(
    'keeps its own bytes where there is none (%i bytes a piece)',
    async (pieceBytes) => {
      const { reader } = readerIn(new SharedBodyMemory(0));
      const { bytes, totalBytes, truncated } = await read(reader, body, pieceBytes);
      expect(bytes.equals(body.subarray(0, 50 * KIB))).toBe(true);
      expect({ totalBytes, truncated }).toEqual({ totalBytes: body.length, truncated: false });
    },
  );

  it('retains no more when the memory is used up', async () => {
    const shared = new SharedBodyMemory(100 * KIB);
    const { reader } = readerIn(shared);
    const { bytes } = await read(reader, body, 1000);
    expect(bytes.length).toBeGreaterThanOrEqual(50 * KIB);
    expect(bytes.length).toBeLessThanOrEqual(150 * KIB);
    expect(bytes.equals(body.subarray(0, bytes.length))).toBe(true);
  });

  it('requests nothing while a body is short', async () => {
    const shared = new SharedBodyMemory(100 * KIB);
    const { reader } = readerIn(shared);
    await read(reader, body.subarray(0, 50 * KIB), 100);
    expect(shared.freeBytes).toBe(100 * KIB);
  });
});
