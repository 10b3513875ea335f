import { afterEach, describe, expect, it } from 'vitest';
import type { StepMatch } from '../../../../../src/agent/probes/tcp/exchange.ts';
import { probeTcp, type TcpOutcome } from '../../../../../src/agent/probes/tcp/probe.ts';
import { type TcpRequest, tcpRequestSchema } from '../../../../../src/model/check/request/tcp.ts';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock, settle } from '../../../../support/fake-clock.ts';
import {
  blackHole,
  type Listening,
  listenTcp,
  refusingPort,
} from '../../../../support/servers/tcp-servers.ts';

const targets: Listening[] = [];
afterEach(async () => {
  await Promise.all(targets.splice(0).map((target) => target.close()));
});

async function opened<Target extends Listening>(target: Promise<Target>): Promise<Target> {
  const listening = await target;
  targets.push(listening);
  return listening;
}

function requestTo(
  { port }: Listening,
  { contains, ...rest }: Partial<TcpRequest> & { readonly contains?: string } = {},
): TcpRequest {
  const assertions =
    contains === undefined
      ? []
      : [{ source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: contains }];
  return tcpRequestSchema.parse({ hostname: '127.0.0.1', port, assertions, ...rest });
}

const never = async (): Promise<boolean> => false;

function expectPhasesToAddUp({ timingPhases, timings, responseTimeMs }: TcpOutcome): void {
  const { dns, connection, data, total } = timingPhases;
  expect(Math.abs(dns + connection + data - total)).toBeLessThan(0.01);
  expect(responseTimeMs).toBe(total);
  expect(timings.end).toBe(total);
}

describe('a TCP check that only connects', () => {
  it.each([
    ['IPv4', '127.0.0.1'],
    ['IPv6', '::1'],
  ] as const)('passes over %s, and closes the connection normally', async (ipFamily, host) => {
    const events: string[] = [];
    const server = await opened(
      listenTcp((socket) => {
        socket.resume().on('end', () => events.push('end'));
        socket.on('error', (error) => events.push(error.message));
      }, host),
    );
    const context = makeContext();
    const outcome = await probeTcp(
      requestTo(server, { hostname: 'localhost', ipFamily }),
      context,
      never,
    );
    expect(outcome).toMatchObject({
      request: { hostname: 'localhost', port: server.port, data: null, ipFamily },
      response: { data: '', address: host, port: server.port, ipFamily },
      failure: null,
    });
    expectPhasesToAddUp(outcome);
    expect(outcome.timingPhases.data).toBe(0);
    expect(outcome.timings.response).toBeNull();
    await server.allClosed();
    expect(events).toEqual(['end']);
  });

  it('treats empty data as none', async () => {
    const server = await opened(listenTcp((socket) => socket.resume()));
    const outcome = await probeTcp(requestTo(server, { data: '' }), makeContext(), never);
    expect(outcome.failure).toBeNull();
    await server.allClosed();
  });

  it('fails if the connection is refused', async () => {
    const outcome = await probeTcp(requestTo(await opened(refusingPort())), makeContext(), never);
    expect(outcome).toMatchObject({ response: null, failure: { code: 'CONNECT_REFUSED' } });
    expectPhasesToAddUp(outcome);
    expect(outcome.timingPhases.connection).toBeGreaterThan(0);
    expect(outcome.timings.connect).toBeNull();
  });

  it('fails at the deadline without an answer', async () => {
    const hole = await opened(blackHole());
    const outcome = await probeTcp(requestTo(hole), makeContext({ deadlineInMs: 100 }), never);
    expect(outcome).toMatchObject({ response: null, failure: { code: 'CONNECT_TIMEOUT' } });
    expectPhasesToAddUp(outcome);
    expect(outcome.timingPhases.total).toBeGreaterThan(90);
  });

  it('fails if the name does not exist', async () => {
    const server = await opened(listenTcp(() => {}));
    const request = requestTo(server, { hostname: 'nowhere.invalid' });
    const outcome = await probeTcp(request, makeContext(), never);
    expect(outcome).toMatchObject({ response: null, failure: { code: 'DNS_NXDOMAIN' } });
    expect(outcome.timings).toMatchObject({ lookup: null, connect: null, response: null });
  });
});

describe('a TCP check of a network that TARGET_DENY denies', () => {
  it('fails after the look-up, without connecting', async () => {
    const server = await opened(listenTcp(() => {}));
    const loopback = { text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 };
    const context = makeContext({ guard: denyNetworks([loopback]) });
    const request = requestTo(server, { hostname: 'localhost', data: 'secret' });
    const outcome = await probeTcp(request, context, never);
    expect(outcome).toMatchObject({ response: null, failure: { code: 'ADDRESS_DENIED' } });
    expect(outcome.timings.lookup).not.toBeNull();
    expect(outcome.timings.connect).toBeNull();
    expect(server.accepted).toBe(0);
  });
});

describe('a TCP check that sends data', () => {
  it('sends it, and has the answer without waiting for the close', async () => {
    const server = await opened(
      listenTcp((socket) => socket.on('data', (chunk) => socket.write(`echo ${chunk}`))),
    );
    const request = requestTo(server, { data: 'PING é' });
    const outcome = await probeTcp(request, makeContext(), never);
    expect(outcome.failure).toBeNull();
    expect(outcome.response?.data).toBe('echo PING é');
    expect(outcome.request.data).toBe('PING é');
    expect(outcome.timings.response).toBeGreaterThan(0);
    expectPhasesToAddUp(outcome);
    await server.allClosed();
  });

  it('passes without data if the peer closes without an answer', async () => {
    const server = await opened(listenTcp((socket) => socket.once('data', () => socket.end())));
    const outcome = await probeTcp(requestTo(server, { data: 'x' }), makeContext(), never);
    expect(outcome).toMatchObject({ failure: null, response: { data: '' } });
  });

  it('waits for a silent peer until the largest threshold is passed', async () => {
    const clock = new FakeClock();
    const received = oneTimeEvent();
    const server = await opened(listenTcp((socket) => socket.once('data', received.emit)));
    const context = makeContext({ clock, deadlineInMs: 30_000 });
    const pending = probeTcp(requestTo(server, { data: 'x' }), context, never);
    await received.occurred;
    await clock.advance(4999);
    expect(server.open).toBe(1);
    await clock.advance(2);
    const outcome = await pending;
    expect(outcome).toMatchObject({ failure: null, response: { data: '' } });
    expect(outcome.responseTimeMs).toBeGreaterThan(5000);
    expect(clock.pendingTimers).toBe(0);
    await server.allClosed();
  });

  it.each([
    ['for as long as the attempt lasts without a maximum response time', null, 6000],
    ['for 5 s with one', 5000, null],
  ])('waits for what a step expects %s', async (_what, maxResponseTimeMs, greetsAfterMs) => {
    const clock = new FakeClock();
    let greet: (() => void) | null = null;
    const server = await opened(
      listenTcp((socket) => {
        socket.once('data', () => {
          greet = () => void socket.write('220 mail.test\r\n');
        });
      }),
    );
    const steps = [{ send: 'hello', expect: '^220 ', format: 'TEXT' as const }];
    const context = makeContext({ clock, deadlineInMs: 30_000 });
    const pending = probeTcp(requestTo(server, { steps }), context, never, {
      maxResponseTimeMs,
      matches: async (pattern, text) => (new RegExp(pattern).test(text) ? 'matches' : 'differs'),
    });
    await eventually(() => greet !== null);
    await clock.advance(greetsAfterMs ?? 5001);
    if (greetsAfterMs !== null) (greet as (() => void) | null)?.();
    const { failure } = await pending;
    expect(failure?.code ?? null).toBe(greetsAfterMs === null ? 'STEP_FAILED' : null);
    await server.allClosed();
  });

  it('evaluates the expression of a step again if it was cut short', async () => {
    const server = await opened(listenTcp((socket) => void socket.write('220 mail.test\r\n')));
    const steps = [{ send: null, expect: '^220 ', format: 'TEXT' as const }];
    const matched: readonly StepMatch[] = ['cut-short', 'cut-short', 'matches'];
    let evaluations = 0;
    const outcome = await probeTcp(requestTo(server, { steps }), makeContext(), never, {
      matches: async () => matched[evaluations++] ?? 'differs',
    });
    expect(outcome).toMatchObject({ failure: null, isCutShort: false });
    expect(evaluations).toBe(3);
  });

  it('reports a reset, and that the target had answered', async () => {
    const server = await opened(
      listenTcp((socket) => socket.once('data', () => socket.resetAndDestroy())),
    );
    const outcome = await probeTcp(requestTo(server, { data: 'x' }), makeContext(), never);
    expect(outcome.failure?.code).toBe('CONNECTION_RESET');
    expect(outcome.failure?.message).toContain(`127.0.0.1:${server.port}`);
    expect(outcome.response?.data).toBe('');
  });
});

describe('a TCP check with assertions on the response', () => {
  it('reads piece by piece until it is satisfied', async () => {
    const server = await opened(
      listenTcp((socket) => {
        socket.write('220 re');
        socket.once('data', () => socket.write('ady'));
      }),
    );
    const judged: string[] = [];
    let judging = 0;
    const outcome = await probeTcp(
      requestTo(server, { contains: 'ready', data: 'next' }),
      makeContext(),
      async (data) => {
        judging += 1;
        expect(judging).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        judging -= 1;
        judged.push(data);
        return data.includes('ready');
      },
    );
    expect(outcome).toMatchObject({ failure: null, response: { data: '220 ready' } });
    expect(judged.at(-1)).toBe('220 ready');
    await server.allClosed();
  });

  it('reads until the peer closes if it is never satisfied', async () => {
    const server = await opened(
      listenTcp((socket) => {
        socket.write('one ');
        socket.end('two');
      }),
    );
    const outcome = await probeTcp(requestTo(server, { contains: 'x' }), makeContext(), never);
    expect(outcome).toMatchObject({ failure: null, response: { data: 'one two' } });
    expectPhasesToAddUp(outcome);
  });

  it('has the data so far when the time is up', async () => {
    const clock = new FakeClock();
    const server = await opened(listenTcp((socket) => socket.write('so far')));
    const context = makeContext({ clock, deadlineInMs: 30_000 });
    const judged = oneTimeEvent();
    const pending = probeTcp(requestTo(server, { contains: 'x' }), context, async () => {
      judged.emit();
      return false;
    });
    await judged.occurred;
    await clock.advance(30_000);
    const outcome = await pending;
    expect(outcome).toMatchObject({ failure: null, response: { data: 'so far' } });
    expect(outcome.responseTimeMs).toBe(30_000);
    expect(logText(context)).toContain('6 bytes arrived, then the time for them was up');
    expect(clock.pendingTimers).toBe(0);
    await server.allClosed();
  });

  it('excludes the time of the evaluation', async () => {
    const clock = new FakeClock();
    const server = await opened(listenTcp((socket) => socket.write('ready')));
    const context = makeContext({ clock, deadlineInMs: 30_000 });
    const outcome = await probeTcp(requestTo(server, { contains: 'x' }), context, async () => {
      await clock.advance(90);
      return true;
    });
    expect(outcome.responseTimeMs).toBeLessThan(90);
  });

  it('evaluates the data of a slow peer in few steps, and ends at the deadline', async () => {
    const clock = new FakeClock();
    const dripping = oneTimeEvent();
    let drips = 0;
    const server = await opened(
      listenTcp((socket) => {
        const drip = (): void => {
          if (socket.destroyed) return;
          drips += 1;
          if (drips === 200) dripping.emit();
          socket.write('.', () => setImmediate(drip));
        };
        drip();
      }),
    );
    let judgements = 0;
    const pending = probeTcp(
      requestTo(server, { contains: 'x' }),
      makeContext({ clock, deadlineInMs: 30_000 }),
      async () => {
        judgements += 1;
        return false;
      },
    );
    await dripping.occurred;
    await clock.advance(5);
    expect(judgements).toBe(1);
    await clock.advance(29_995);
    const outcome = await pending;
    expect(outcome.failure).toBeNull();
    expect(outcome.response?.data).toMatch(/^\.{100,}$/);
    await server.allClosed();
  });

  it.each([
    [20, 80],
    [2000, 250],
  ])('after a judgement of %i ms leaves out the next one for %i ms', async (judgeMs, pauseMs) => {
    const clock = new FakeClock();
    const judged = oneTimeEvent();
    const server = await opened(listenTcp((socket) => socket.write('one')));
    let judgements = 0;
    const pending = probeTcp(
      requestTo(server, { contains: 'x' }),
      makeContext({ clock, deadlineInMs: 30_000 }),
      async () => {
        judgements += 1;
        clock.spend(judgeMs);
        judged.emit();
        return false;
      },
    );
    await judged.occurred;
    await settle();
    expect(clock.nextTimerInMs).toBe(pauseMs);
    await clock.advance(30_000);
    expect(judgements).toBe(1);
    expect((await pending).response?.data).toBe('one');
  });

  it('reads at most 64 KiB', async () => {
    const server = await opened(
      listenTcp((socket) => {
        const pour = (): void => {
          while (!socket.destroyed && socket.write('x'.repeat(10_000))) {}
        };
        socket.on('drain', pour);
        pour();
      }),
    );
    const outcome = await probeTcp(requestTo(server, { contains: 'y' }), makeContext(), never);
    expect(outcome.failure).toBeNull();
    expect(outcome.response?.data).toBe('x'.repeat(65_536));
    await server.allClosed();
  });

  it('replaces bytes that are not UTF-8', async () => {
    const server = await opened(
      listenTcp((socket) => socket.end(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x62]))),
    );
    const outcome = await probeTcp(requestTo(server, { contains: 'x' }), makeContext(), never);
    expect(outcome.response?.data).toBe('\ufeffa\ufffdb');
  });

  it('has the data that arrived before a reset', async () => {
    let reset = (): void => {};
    const server = await opened(
      listenTcp((socket) => {
        reset = () => socket.resetAndDestroy();
        socket.write('half an ans');
      }),
    );
    const request = requestTo(server, { contains: 'answer' });
    const outcome = await probeTcp(request, makeContext(), async () => {
      reset();
      return false;
    });
    expect(outcome.failure?.code).toBe('CONNECTION_RESET');
    expect(outcome.response?.data).toBe('half an ans');
    expectPhasesToAddUp(outcome);
  });

  it('distinguishes a reset that arrives with the last data from a close', async () => {
    const server = await opened(
      listenTcp((socket) =>
        socket.once('data', () => {
          socket.write('half an ans');
          socket.resetAndDestroy();
        }),
      ),
    );
    const request = requestTo(server, { data: 'x', contains: 'answer' });
    const outcome = await probeTcp(request, makeContext(), never);
    expect(outcome.failure?.code).toBe('CONNECTION_RESET');
    expect(outcome.response?.data).toBe('half an ans');
  });

  it('passes if a reset follows the expected answer', async () => {
    let reset = (): void => {};
    const server = await opened(
      listenTcp((socket) => {
        reset = () => socket.resetAndDestroy();
        socket.write('ready');
      }),
    );
    const outcome = await probeTcp(
      requestTo(server, { contains: 'ready' }),
      makeContext(),
      async (data) => {
        reset();
        await server.allClosed();
        return data === 'ready';
      },
    );
    expect(outcome).toMatchObject({ failure: null, response: { data: 'ready' } });
  });

  it('is cancelled while it waits, and leaves nothing open', async () => {
    const stop = new AbortController();
    const server = await opened(listenTcp(() => setImmediate(() => stop.abort())));
    const context = makeContext({ signal: stop.signal });
    const outcome = await probeTcp(requestTo(server, { contains: 'x' }), context, never);
    expect(outcome.failure?.code).toBe('CANCELLED');
    await server.allClosed();
  });

  it('closes the connection if the evaluation throws', async () => {
    const server = await opened(listenTcp((socket) => socket.write('ready')));
    const broken = probeTcp(requestTo(server, { contains: 'x' }), makeContext(), async () => {
      throw new Error('our fault');
    });
    await expect(broken).rejects.toThrow('our fault');
    await server.allClosed();
  });
});

/** An event to wait for. */
function oneTimeEvent(): { readonly occurred: Promise<void>; readonly emit: () => void } {
  let emit = (): void => {};
  const occurred = new Promise<void>((resolve) => {
    emit = resolve;
  });
  return { occurred, emit };
}
