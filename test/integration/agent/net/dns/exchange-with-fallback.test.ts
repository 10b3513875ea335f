import { existsSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Exchanged,
  exchange,
} from '../../../../../src/agent/net/dns/exchange-with-fallback.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { FakeClock, settle } from '../../../../support/fake-clock.ts';
import {
  type DnsResponder,
  framed,
  type Handler,
  type ResponderOptions,
  startDnsResponder,
} from '../../../../support/servers/dns-responder.ts';
import {
  type AskedQuestion,
  answerTo,
  TRUNCATED_RESPONSE,
  u16,
} from '../../../../support/servers/dns-wire.ts';

const NAME = 'www.example.com';
const QUESTION = { name: `${NAME}.`, type: 1 };
const A = { name: NAME, type: 'A', ttl: 60, data: '192.0.2.1' } as const;
const good = (asked: AskedQuestion): Buffer => answerTo(asked, { answers: [A] });

let responder: DnsResponder;
afterEach(() => responder.close());

/** Starts the responder and queries it. The clock advances only when the test says so. */
async function ask(options: ResponderOptions, protocol: 'UDP' | 'TCP' = 'UDP') {
  responder = await startDnsResponder(options);
  const clock = new FakeClock();
  const controller = new AbortController();
  const context = makeContext({ clock, signal: controller.signal, deadlineInMs: 5000 });
  const how = { ...context, protocol, authenticData: false };
  const result = exchange(QUESTION, responder, how);
  return { result, clock, controller, log: () => logText(context) };
}

async function outcome(options: ResponderOptions, protocol: 'UDP' | 'TCP' = 'UDP') {
  const { result, clock, log } = await ask(options, protocol);
  const end = await result;
  expect(clock.pendingTimers).toBe(0);
  return { end, log: log() };
}

const addressesOf = (end: Exchanged): readonly string[] | string =>
  end.kind === 'answer' ? end.message.answers.map(({ data }) => data) : end.failure.code;

describe('over UDP', () => {
  it('returns the answer and logs it', async () => {
    const { end, log } = await outcome({ udp: (asked, channel) => channel.send(good(asked)) });
    expect(end).toMatchObject({ kind: 'answer', protocol: 'UDP', message: { rcode: 0 } });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(log).toMatch(
      /^Question A www\.example\.com to 127\.0\.0\.1:\d+ over UDP: NOERROR, 1 record, \d+\.\d{3} ms$/,
    );
    expect(responder.asked).toMatchObject([{ name: NAME, type: 1, edns: true }]);
  });

  it('asks from an IPv6 address', async () => {
    const { end } = await outcome({
      address: '::1',
      udp: (asked, channel) => channel.send(good(asked)),
    });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
  });

  const lies: readonly (readonly [string, (asked: AskedQuestion) => Buffer])[] = [
    ['another id', (asked) => answerTo(asked, { id: asked.id ^ 0x5555, answers: [] })],
    ['another name', (asked) => answerTo(asked, { name: 'evil.example', answers: [] })],
    ['another type', (asked) => answerTo(asked, { type: 28, answers: [] })],
    ['no DNS at all', (asked) => Buffer.from([(asked.id >> 8) ^ 0xff, 1, 2])],
  ];
  it.each(lies)('ignores and counts datagrams with %s', async (_what, lie) => {
    const { end, log } = await outcome({
      udp(asked, channel) {
        channel.send(lie(asked));
        channel.send(lie(asked));
        channel.send(good(asked));
      },
    });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(log).toContain('2 datagrams from 127.0.0.1');
  });

  it('never receives an answer from another socket', async () => {
    const { end, log } = await outcome({
      async udp(asked, channel) {
        await channel.sendFromElsewhere(
          answerTo(asked, { answers: [{ ...A, data: '198.51.100.66' }] }),
        );
        channel.send(good(asked));
      },
    });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(log).not.toContain('ignored');
  });

  const broken: readonly (readonly [string, (asked: AskedQuestion) => Buffer])[] = [
    ['a compression loop', (asked) => withLoop(asked)],
    ['the id alone', (asked) => u16(asked.id)],
    ['a message cut short', (asked) => good(asked).subarray(0, 40)],
    [
      'random octets behind the id',
      (asked) => Buffer.concat([u16(asked.id), Buffer.alloc(40, 0xab)]),
    ],
  ];
  it.each(broken)('calls %s malformed at once', async (_what, bytes) => {
    const { end } = await outcome({ udp: (asked, channel) => channel.send(bytes(asked)) });
    expect(addressesOf(end)).toBe('DNS_MALFORMED');
  });

  it('accepts the first of two answers', async () => {
    const { end } = await outcome({
      udp(asked, channel) {
        channel.send(good(asked));
        channel.send(answerTo(asked, { rcode: 2 }));
      },
    });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
  });

  it('says at once that nothing listens', async () => {
    const { end } = await outcome({});
    expect(end).toMatchObject({ kind: 'failed', failure: { code: 'DNS_UNREACHABLE' } });
    expect(end.kind === 'failed' && end.failure.message).toContain('ECONNREFUSED');
  });

  it('asks again when a datagram is lost, with the same id', async () => {
    let count = 0;
    const { result, clock, log } = await ask({
      udp(asked, channel) {
        count += 1;
        if (count === 3) channel.send(good(asked));
      },
    });
    await responder.questions(1);
    await clock.advance(500);
    await responder.questions(2);
    await clock.advance(999);
    expect(responder.asked).toHaveLength(2);
    await clock.advance(1);
    const end = await result;
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(end.kind === 'answer' && end.durationMs).toBe(1500);
    expect(new Set(responder.asked.map(({ id }) => id)).size).toBe(1);
    expect(log()).toContain('was sent 3 times');
    expect(clock.pendingTimers).toBe(0);
  });

  it('accepts an answer to the first question after the second was sent', async () => {
    let answerFirst = (): void => {};
    const { result, clock } = await ask({
      udp(asked, channel) {
        if (responder.asked.length === 1) answerFirst = () => channel.send(good(asked));
        else answerFirst();
      },
    });
    await responder.questions(1);
    await clock.advance(500);
    expect(addressesOf(await result)).toEqual(['192.0.2.1']);
  });

  it('times out at the deadline and reports its attempts', async () => {
    const { result, clock } = await ask({ udp: () => {} });
    await responder.questions(1);
    await clock.advance(4999);
    await responder.questions(4);
    await clock.advance(1);
    const end = await result;
    expect(end).toMatchObject({ failure: { code: 'DNS_TIMEOUT' } });
    expect(end.kind === 'failed' && end.failure.message).toMatch(
      /^127\.0\.0\.1:\d+ did not answer A www\.example\.com over UDP within 5000 ms \(asked 4 times; 0 datagrams were no answer\)$/,
    );
    expect(clock.pendingTimers).toBe(0);
  });

  it('reports a server that sends only garbage as malformed', async () => {
    const garbage = Buffer.from('HTTP/1.1 400 Bad Request');
    let sent = (): void => {};
    const done = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const { result, clock } = await ask({
      udp(asked, channel) {
        // Two octets that are not the random id.
        channel.send(asked.id === garbage.readUInt16BE(0) ? garbage.subarray(1) : garbage);
        sent();
      },
    });
    await done;
    await clock.advance(5000);
    expect(addressesOf(await result)).toBe('DNS_MALFORMED');
  });

  it('ends if a server sends datagrams without end, none of which is an answer', async () => {
    const done = new AbortController();
    const { result } = await ask({
      async udp(asked, channel) {
        while (!done.signal.aborted) {
          channel.send(answerTo({ ...asked, id: asked.id ^ 1 }, { answers: [A] }));
          // The socket sends, and the other one reads.
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    });
    const end = await result;
    done.abort();
    expect(end.kind === 'failed' && end.failure).toEqual({
      code: 'DNS_MALFORMED',
      message: expect.stringContaining('sent more than 1000 datagrams over UDP, none of which'),
    });
  });

  it('ends when the run is cancelled', async () => {
    const { result, clock, controller } = await ask({ udp: () => {} });
    await responder.questions(1);
    controller.abort();
    expect(addressesOf(await result)).toBe('CANCELLED');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('truncated over UDP', () => {
  const truncate: Handler = (asked, channel) =>
    channel.send(answerTo(asked, { flags: TRUNCATED_RESPONSE }));

  it('is asked again over TCP', async () => {
    const { end, log } = await outcome({
      udp: truncate,
      tcp: (asked, channel) => channel.send(good(asked)),
    });
    expect(end).toMatchObject({ kind: 'answer', protocol: 'TCP' });
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(responder.asked).toMatchObject([
      { protocol: 'UDP', edns: true },
      { protocol: 'TCP', edns: true },
    ]);
    expect(log).toContain('truncated; asking again over TCP');
  });

  it('is a failure if TCP is refused', async () => {
    const { end } = await outcome({ udp: truncate });
    expect(end).toMatchObject({ failure: { code: 'DNS_UNREACHABLE' } });
    expect(end.kind === 'failed' && end.failure.message).toContain('over TCP (ECONNREFUSED)');
  });
});

describe('a server that does not know EDNS', () => {
  const oldServer: Handler = (asked, channel) =>
    channel.send(asked.edns ? answerTo(asked, { rcode: 1, edns: false }) : good(asked));

  it.each(['UDP', 'TCP'] as const)('is asked again without it over %s', async (protocol) => {
    const { end, log } = await outcome({ udp: oldServer, tcp: oldServer }, protocol);
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
    expect(responder.asked.map(({ edns }) => edns)).toEqual([true, false]);
    expect(log).toContain('asking again without it');
  });

  it('is accepted if it answers FORMERR without EDNS, too', async () => {
    const { end } = await outcome({
      udp: (asked, channel) => channel.send(answerTo(asked, { rcode: 1, edns: false })),
    });
    expect(end).toMatchObject({ kind: 'answer', message: { rcode: 1 } });
    expect(responder.asked).toHaveLength(2);
  });

  it('is not asked again if its FORMERR has EDNS', async () => {
    const { end } = await outcome({
      udp: (asked, channel) => channel.send(answerTo(asked, { rcode: 1 })),
    });
    expect(end).toMatchObject({ kind: 'answer', message: { rcode: 1 } });
    expect(responder.asked).toHaveLength(1);
  });
});

describe('over TCP', () => {
  it('returns an answer of 64 KiB in many segments', async () => {
    const text = { name: NAME, type: 'TXT', data: 'x'.repeat(250) } as const;
    const { end } = await outcome(
      {
        tcp: (asked, channel) =>
          channel.send(answerTo(asked, { answers: new Array(230).fill(text) })),
      },
      'TCP',
    );
    expect(end.kind === 'answer' && end.message.messageBytes).toBeGreaterThan(60_000);
    expect(addressesOf(end)).toHaveLength(230);
  });

  it('returns an answer that arrives byte by byte', async () => {
    const { end } = await outcome(
      { tcp: (asked, channel) => channel.drip(framed(good(asked))) },
      'TCP',
    );
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
  });

  it('skips a few messages that answer something else', async () => {
    const { end } = await outcome(
      {
        tcp(asked, channel) {
          channel.write(
            Buffer.concat([
              framed(answerTo(asked, { id: asked.id ^ 1 })),
              framed(answerTo(asked, { name: 'evil.example' })),
              framed(answerTo(asked, { type: 28 })),
              framed(answerTo(asked, { question: false })),
              framed(good(asked)),
            ]),
          );
        },
      },
      'TCP',
    );
    expect(addressesOf(end)).toEqual(['192.0.2.1']);
  });

  const failures: readonly (readonly [string, Handler, string])[] = [
    [
      'an endless row of them',
      (asked, channel) => {
        const other = framed(answerTo(asked, { id: asked.id ^ 1 }));
        channel.write(Buffer.concat(new Array<Buffer>(10).fill(other)));
      },
      'DNS_MALFORMED',
    ],
    [
      'a message of no octets',
      (_asked, channel) => {
        channel.write(Buffer.concat(new Array<Buffer>(10).fill(u16(0))));
      },
      'DNS_MALFORMED',
    ],
    ['a compression loop', (asked, channel) => channel.send(withLoop(asked)), 'DNS_MALFORMED'],
    [
      'an end in the middle',
      (asked, channel) => {
        channel.write(framed(good(asked)).subarray(0, 20));
        channel.end();
      },
      'DNS_MALFORMED',
    ],
    ['an end without a word', (_asked, channel) => channel.end(), 'DNS_UNREACHABLE'],
    ['a reset', (_asked, channel) => channel.reset(), 'DNS_UNREACHABLE'],
  ];
  it.each(failures)('%s is a failure', async (_what, tcp, code) => {
    const { end } = await outcome({ tcp }, 'TCP');
    expect(addressesOf(end)).toBe(code);
  });

  it('says at once that nothing listens', async () => {
    const { end } = await outcome({ udp: () => {} }, 'TCP');
    expect(end).toMatchObject({ failure: { code: 'DNS_UNREACHABLE' } });
  });

  it('waits for announced octets until the deadline', async () => {
    let written = (): void => {};
    const done = new Promise<void>((resolve) => {
      written = resolve;
    });
    const { result, clock } = await ask(
      {
        tcp(_asked, channel) {
          channel.write(Buffer.from([0xff, 0xff, 1, 2, 3]));
          written();
        },
      },
      'TCP',
    );
    await done;
    await settle();
    await clock.advance(5000);
    const end = await result;
    expect(end).toMatchObject({ failure: { code: 'DNS_TIMEOUT' } });
    expect(end.kind === 'failed' && end.failure.message).toContain('over TCP within 5000 ms');
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends when the run is cancelled', async () => {
    const { result, clock, controller } = await ask({ tcp: () => {} }, 'TCP');
    await responder.questions(1);
    controller.abort();
    expect(addressesOf(await result)).toBe('CANCELLED');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('sockets', () => {
  const OPEN_FILES = '/proc/self/fd';
  const openFiles = (): number => readdirSync(OPEN_FILES).length;

  it.runIf(existsSync(OPEN_FILES)).each(['UDP', 'TCP'] as const)(
    'over %s are closed, also where the end comes before they are bound',
    async (protocol) => {
      const { clock } = await ask({ udp: () => {}, tcp: () => {} }, protocol);
      const before = openFiles();
      const exchanges = Array.from({ length: 40 }, () => {
        const controller = new AbortController();
        const context = makeContext({ clock, signal: controller.signal });
        const end = exchange(QUESTION, responder, { ...context, protocol, authenticData: false });
        controller.abort();
        return end;
      });
      expect((await Promise.all(exchanges)).map(addressesOf)).toEqual(
        new Array<string>(40).fill('CANCELLED'),
      );
      await settle();
      expect(openFiles()).toBeLessThan(before + 10);
      await clock.advance(10_000);
    },
  );
});

/** An answer whose only record's name points to itself. */
function withLoop(asked: AskedQuestion): Buffer {
  const head = answerTo(asked, { edns: false });
  const record = Buffer.concat([u16(0xc000 + head.length, 1, 1, 0, 60, 4), Buffer.alloc(4)]);
  const bytes = Buffer.concat([head, record]);
  bytes.writeUInt16BE(1, 6);
  return bytes;
}
