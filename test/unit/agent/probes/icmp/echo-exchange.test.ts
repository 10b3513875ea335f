import { beforeEach, describe, expect, it } from 'vitest';
import {
  type EchoEnd,
  type EchoExchange,
  roundTripMs,
} from '../../../../../src/agent/probes/icmp/echo-exchange.ts';
import type { ReceivedReply } from '../../../../../src/agent/probes/icmp/ping-transport.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  destination,
  type MemoryTransport,
  memoryExchange,
} from '../../../../support/network/memory-transport.ts';

const TARGET = destination('10.0.0.2');
const TOKEN = Buffer.from('0102030405060708', 'hex');

let clock: FakeClock;
let exchange: EchoExchange;
let transport: MemoryTransport;

beforeEach(() => {
  clock = new FakeClock();
  ({ exchange, transport } = memoryExchange(clock));
});

function start(): { ends: EchoEnd[]; cancel: () => void } {
  const ends: EchoEnd[] = [];
  const request = { destination: TARGET, token: TOKEN };
  const cancel = exchange.start(request, (end) => ends.push(end));
  return { ends, cancel };
}

/** The target's reply to the last request. */
function replyToLast(changes: Partial<ReceivedReply> = {}): ReceivedReply {
  const { sequence, data } = transport.sent.at(-1) ?? { sequence: 0, data: Buffer.alloc(0) };
  return { sequence, data, source: TARGET.bytes, ttl: 61, waitedMs: null, ...changes };
}

describe('an echo', () => {
  it('ends with its reply, timed from the send', async () => {
    const { ends } = start();
    await clock.advance(20.5);
    exchange.reply(replyToLast());
    expect(ends).toEqual([{ kind: 'answered', rttMs: 20.5, ttl: 61, uncertainMs: null }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is timed until the receipt by the kernel, not until the agent reads it', async () => {
    const { ends } = start();
    await clock.stall(300);
    exchange.reply(replyToLast({ waitedMs: 280 }));
    expect(ends).toEqual([{ kind: 'answered', rttMs: 20, ttl: 61, uncertainMs: 0 }]);
  });

  it('is uncertain by the duration of the send if the kernel stamped its reply', async () => {
    transport.sendTookMs = 95;
    const { ends } = start();
    await clock.stall(300);
    exchange.reply(replyToLast({ waitedMs: 180 }));
    expect(ends).toEqual([{ kind: 'answered', rttMs: 120, ttl: 61, uncertainMs: 95 }]);
  });

  it.each([
    ['from another address', { source: destination('10.0.0.3').bytes }],
    ['from an address of the other family', { source: destination('::1').bytes }],
    ['with another token', { data: Buffer.alloc(56) }],
    ['with no data', { data: Buffer.alloc(0) }],
    ['to another sequence', { sequence: 4711 }],
  ])('is not ended by a reply %s', async (_what, changes) => {
    const { ends } = start();
    exchange.reply(replyToLast(changes));
    expect(ends).toEqual([]);
    await clock.advance(2000);
    expect(ends).toEqual([{ kind: 'lost' }]);
  });

  it('counts one reply, however often it comes', () => {
    const { ends } = start();
    exchange.reply(replyToLast());
    exchange.reply(replyToLast());
    expect(ends).toHaveLength(1);
  });

  it('is lost after its time, and a late reply changes nothing', async () => {
    const { ends } = start();
    await clock.advance(1999);
    expect(ends).toEqual([]);
    await clock.advance(1);
    exchange.reply(replyToLast());
    expect(ends).toEqual([{ kind: 'lost' }]);
  });

  it('is not lost if its reply arrived in time and only the agent was late', async () => {
    const { ends } = start();
    transport.onDrain = () => exchange.reply(replyToLast({ waitedMs: 2970 }));
    await clock.stall(3000);
    expect(ends).toEqual([{ kind: 'answered', rttMs: 30, ttl: 61, uncertainMs: 0 }]);
  });

  it('is lost if its reply reached the kernel too late', async () => {
    const { ends } = start();
    transport.onDrain = () => exchange.reply(replyToLast({ waitedMs: 500 }));
    await clock.stall(3000);
    expect(ends).toEqual([{ kind: 'lost' }]);
  });

  it('is not lost if its reply without a kernel timestamp was read late', async () => {
    transport.drainsLater = true;
    const { ends } = start();
    transport.onDrain = () => exchange.reply(replyToLast());
    await clock.stall(3000);
    await eventually(() => ends.length > 0);
    expect(ends).toEqual([{ kind: 'answered', rttMs: 3000, ttl: 61, uncertainMs: null }]);
  });

  it('is not lost if its time ended while other replies were read', async () => {
    start();
    await clock.advance(100);
    const { ends } = start();
    transport.onDrain = () => {
      clock.spend(100);
      transport.onDrain = () => exchange.reply(replyToLast({ waitedMs: 150 }));
    };
    await clock.advance(1900);
    expect(ends).toEqual([]);
    await clock.advance(100);
    expect(ends).toMatchObject([{ kind: 'answered' }]);
  });

  it.each([8, 4, 0])('ends with an error that quotes %i bytes of its data', (quotedBytes) => {
    const { ends } = start();
    const { sequence, data } = replyToLast();
    const quoted = data.subarray(0, quotedBytes);
    exchange.error({ sequence, target: TARGET.bytes, data: quoted, reason: 'host unreachable' });
    expect(ends).toEqual([{ kind: 'unreachable', reason: 'host unreachable' }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("is not ended by an error about a stranger's request", () => {
    const { ends } = start();
    const { sequence, data } = replyToLast();
    const reason = 'host unreachable';
    exchange.error({ sequence, target: destination('10.0.0.3').bytes, data, reason });
    exchange.error({ sequence, target: TARGET.bytes, data: Buffer.alloc(56), reason });
    exchange.error({ sequence: sequence + 1, target: TARGET.bytes, data, reason });
    expect(ends).toEqual([]);
  });

  it.each(['refused', 'fault'] as const)('that is %s ends at once', (outcome) => {
    transport.outcome = outcome;
    const { ends } = start();
    expect(ends).toEqual([{ kind: outcome, reason: `made to be ${outcome}` }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that is cancelled calls nothing back and leaves no timer', () => {
    const { ends, cancel } = start();
    cancel();
    exchange.reply(replyToLast());
    expect(ends).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the exchange', () => {
  it('gives 65,536 echoes different numbers and refuses the next as a fault of the agent', () => {
    for (let count = 0; count < 65_536; count += 1) start();
    expect(new Set(transport.sent.map(({ sequence }) => sequence)).size).toBe(65_536);
    const { ends } = start();
    expect(ends).toEqual([{ kind: 'fault', reason: 'all 65536 sequence numbers are in use' }]);
  });

  it('skips a number whose echo is still outstanding', () => {
    start();
    for (let count = 1; count < 65_536; count += 1) {
      start();
      exchange.reply(replyToLast());
    }
    start();
    expect(transport.sent.at(-1)?.sequence).toBe(1);
  });

  it('has one timer for all echoes, and gives up each after its own 2 s', async () => {
    const { ends: answered } = start();
    await clock.advance(0.4);
    const { ends: early } = start();
    await clock.advance(700);
    const { ends: late } = start();
    expect(clock.pendingTimers).toBe(1);
    exchange.reply(replyToLast({ sequence: 0 }));
    expect(answered).toMatchObject([{ kind: 'answered' }]);
    await clock.advance(1299.9);
    expect(early).toEqual([]);
    await clock.advance(0.2);
    expect(early).toEqual([{ kind: 'lost' }]);
    await clock.advance(699.8);
    expect(late).toEqual([]);
    await clock.advance(0.2);
    expect(late).toEqual([{ kind: 'lost' }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('can send another echo from the callback of a reply', () => {
    const ends: EchoEnd[] = [];
    const second = { destination: TARGET, token: Buffer.alloc(8, 1) };
    exchange.start({ destination: TARGET, token: TOKEN }, (end) => {
      ends.push(end);
      exchange.start(second, (next) => ends.push(next));
    });
    exchange.reply(replyToLast());
    expect(transport.sent.map(({ data }) => data.subarray(0, 8).toString('hex'))).toEqual([
      '0102030405060708',
      '0101010101010101',
    ]);
    exchange.reply(replyToLast());
    expect(ends.map(({ kind }) => kind)).toEqual(['answered', 'answered']);
  });

  it('ends every echo as a fault when the socket breaks', () => {
    const { ends } = start();
    exchange.broken('the socket is gone');
    expect(ends).toEqual([{ kind: 'fault', reason: 'the socket is gone' }]);
    expect(start().ends).toEqual([{ kind: 'fault', reason: 'the socket is gone' }]);
    expect(exchange.usable).toBe(false);
  });

  it('closes the socket and ends all outstanding echoes', () => {
    const { ends } = start();
    exchange.close();
    expect(transport.closed).toBe(true);
    expect(ends).toMatchObject([{ kind: 'fault' }]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('roundTripMs', () => {
  it('excludes the time that the reply waited in the kernel', () => {
    expect(roundTripMs(1000, 1050, 30)).toBe(20);
  });

  it.each([
    ['the kernel gave no stamp', null],
    ['the wall clock was set forward in between', 3_600_000],
    ['the wall clock was set back in between', -3_600_000],
  ])('is the time until the agent reads the reply if %s', (_what, waitedMs) => {
    expect(roundTripMs(1000, 1050, waitedMs)).toBe(50);
  });
});
