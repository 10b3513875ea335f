import { describe, expect, it, onTestFinished } from 'vitest';
import { loadKernelSockets } from '../../../../src/agent/net/kernel/kernel-sockets.ts';
import { StarvationMeter } from '../../../../src/agent/run/starvation/starvation-meter.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { type RunFixture, runFixture } from '../../../support/agent/run-fixture.ts';
import { beginAndHold, nameServerThread } from '../../../support/process/held-loop.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

/** Far over the threshold: held for so long, the event loop would call any target degraded. */
const HELD_MS = 300;
const DEGRADED_MS = 100;
const FACTS = {
  peer: 'target',
  rttMs: expect.any(Number),
  minRttMs: expect.any(Number),
  retransmits: 0,
  mss: expect.any(Number),
};
// Elsewhere the event loop takes all times, as the results then say.
const onLinux = describe.runIf(process.platform === 'linux');

/** The run pipeline as the agent has it, which asks the kernel. */
async function kernelFixture(): Promise<RunFixture> {
  const sources = { threadDelay: null, sockets: await loadKernelSockets(), loopIdleMs: null };
  const starvation = new StarvationMeter(systemClock, sources);
  onTestFinished(() => starvation.close());
  return runFixture({ clock: systemClock, parts: { starvation } });
}

async function tcpCheck(): Promise<Check> {
  const server = await listenTcp((socket) => void socket.resume());
  onTestFinished(() => server.close());
  const request = { hostname: '127.0.0.1', port: server.port };
  return checkOf('TCP', { request, degradedResponseTime: DEGRADED_MS, retryStrategy: null });
}

async function resultOf(check: Check): Promise<CheckResult> {
  const fixture = await kernelFixture();
  await fixture.run(check);
  const [result] = fixture.results;
  if (result === undefined) throw new Error('no result');
  return result;
}

onLinux('a result', () => {
  it('of a TCP check has the times of the kernel and its facts about the connection', async () => {
    const { tcpCheckResult } = await resultOf(await tcpCheck());
    expect(tcpCheckResult).toMatchObject({ timing: { clock: 'kernel' }, tcp: FACTS });
  });

  it('of an API check has the connect time of the kernel alone', async () => {
    const target = await rawServer(answering(response('200 OK', 'ok')));
    const { apiCheckResult } = await resultOf(
      checkOf('API', { request: { url: target.url('/') }, retryStrategy: null }),
    );
    expect(apiCheckResult).toMatchObject({ timing: { clock: 'mixed' }, tcp: FACTS });
  });

  it('of a DNS check has the time of the kernel', async () => {
    const { port } = await nameServerThread();
    const request = { query: 'example.com', recordType: 'A', nameServer: '127.0.0.1', port };
    const fixture = await kernelFixture();
    // The first question has the kernel begin with its stamps, a moment later.
    for (;;) {
      await fixture.run(checkOf('DNS', { request, retryStrategy: null }));
      if (fixture.results.at(-1)?.dnsCheckResult?.timing?.clock === 'kernel') break;
    }
    expect(fixture.results.at(-1)).toMatchObject({ hasFailures: false });
  });

  it('stands, and is not degraded, where the event loop was held while it connected', async () => {
    const check = await tcpCheck();
    const fixture = await kernelFixture();
    await beginAndHold(HELD_MS, () => fixture.run(check));
    expect(fixture.starved).toBe(0);
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', isDegraded: false }]);
    expect(fixture.results[0]?.responseTime).toBeLessThan(DEGRADED_MS);
  });
});
