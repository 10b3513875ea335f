import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { KernelSockets } from '../../../../../src/agent/net/kernel/kernel-sockets.ts';
import type { StarvationWatch } from '../../../../../src/agent/net/starvation-watch.ts';
import { type DnsOutcome, probeDns } from '../../../../../src/agent/probes/dns/probe.ts';
import { StarvationMeter } from '../../../../../src/agent/run/starvation/starvation-meter.ts';
import { dnsRequestSchema } from '../../../../../src/model/check/request/dns.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { makeContext, NO_ROUTE } from '../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  beginAndHold,
  nameServerThread,
  realStarvation,
} from '../../../../support/process/held-loop.ts';
import { startDnsResponder } from '../../../../support/servers/dns-responder.ts';
import { answerTo } from '../../../../support/servers/dns-wire.ts';

const HELD_MS = 30;
/** By then the question would have been sent again. */
const LONG_HELD_MS = 550;
// Only Linux has kernel times; elsewhere the event loop measures.
const onLinux = describe.runIf(process.platform === 'linux');

function ask(port: number, starvation: StarvationWatch): Promise<DnsOutcome> {
  const nameServer = '127.0.0.1';
  const fields = { query: 'example.com', recordType: 'A', nameServer, port, protocol: 'UDP' };
  const request = dnsRequestSchema.parse({ ...fields, assertions: [] });
  const nameServers = () => {
    throw new Error('not the system');
  };
  return probeDns(request, makeContext({ starvation }), { nameServers, ...NO_ROUTE });
}

onLinux('the time of a DNS check', () => {
  it.each([HELD_MS, LONG_HELD_MS])(
    'has nothing in it of %i ms for which the event loop was held when the answer was there',
    async (heldMs) => {
      const server = await nameServerThread();
      const starvation = await realStarvation();
      // The first question makes the kernel start its stamps, a moment later.
      for (;;) {
        const { clock } = await ask(server.port, starvation);
        server.untilAnswered();
        if (clock === 'kernel') break;
      }
      const timed = vi.spyOn(starvation, 'timedByKernel');
      const startMs = systemClock.monotonicMs();
      const outcome = await beginAndHold(
        heldMs,
        () => ask(server.port, starvation),
        server.untilAnswered,
      );
      const elapsedMs = systemClock.monotonicMs() - startMs;
      expect(outcome.failure).toBeNull();
      expect(outcome.clock).toBe('kernel');
      expect(outcome.responseTimeMs).toBeGreaterThan(0);
      expect(outcome.responseTimeMs).toBeLessThan(elapsedMs - heldMs);
      const [[interval] = []] = timed.mock.calls;
      expect(interval?.unseenMs).toBeGreaterThanOrEqual(heldMs);
      // The event loop timed only the handover of the question.
      expect(interval?.uncertainMs).toBeLessThan(outcome.responseTimeMs);
    },
  );
});

/** RFC 1035 4.1.1. */
const SERVFAIL = 2;

it('ends at the accepted answer if a later one waited for the event loop', async () => {
  const clock = new FakeClock();
  const waitedMs = [0, HELD_MS];
  let questions = 0;
  const responder = await startDnsResponder({
    udp(asked, channel) {
      clock.spend(1 + (waitedMs[questions] ?? 0));
      questions += 1;
      channel.send(answerTo(asked, { rcode: SERVFAIL }));
    },
  });
  onTestFinished(() => responder.close());
  const sockets: KernelSockets = {
    read: () => null,
    stampArrivals: () => {},
    sinceArrivalMs: () => waitedMs[questions - 1] ?? null,
    segments: null,
    tickMs: 4,
    sinceTickMs: () => 0,
    close: () => {},
  };
  const meter = new StarvationMeter(clock, { threadDelay: null, sockets, loopIdleMs: null });
  const starvation = meter.begin();
  const fields = { query: 'example.com', recordType: 'A', protocol: 'UDP', assertions: [] };
  const { address, port } = responder;
  const outcome = await probeDns(
    dnsRequestSchema.parse(fields),
    makeContext({ clock, starvation }),
    {
      ...NO_ROUTE,
      nameServers: () => ({
        servers: [
          { address, port },
          { address, port },
        ],
        timeoutMs: 5_000,
        attempts: 1,
      }),
    },
  );
  meter.end();
  expect(questions).toBe(2);
  expect(starvation.unseenMs).toBe(HELD_MS);
  expect(outcome).toMatchObject({ response: { responseCode: 'SERVFAIL' }, responseTimeMs: 1 });
});
