// Runs the agent's ICMP probe, as it is shipped, against many addresses at once.
// Usage: node icmp-checks.mjs < OPTIONS, which are CheckOptions of ../icmp/ours.ts as JSON.
// Prints one line of JSON: {cpuMs, rttsMs}, where rttsMs is {address: [milliseconds]} in the
// order of the echoes, null for one without an answer.
import { readFileSync } from 'node:fs';
import { createIcmpProbe } from '../../../dist/agent/probes/icmp/probe.js';
import { JobLog } from '../../../dist/agent/probes/job-log.js';
import { systemClock } from '../../../dist/runtime/clock.js';
import { sleep } from '../../../dist/runtime/wait.js';

const { addresses, pingCount, startWithinMs, warmUpChecks } = JSON.parse(readFileSync(0, 'utf8'));
const resolver = { resolve: async (address) => ({ ok: true, addresses: [address] }) };
const probe = createIcmpProbe({ clock: systemClock });
const rttsMs = {};

for (let count = 0; count < warmUpChecks; count += 100) {
  await Promise.all(Array.from({ length: 100 }, () => check('127.0.0.1', 1)));
}
const startCpu = process.cpuUsage();
// Spread like their slots.
await Promise.all(
  addresses.map(async (address, index) => {
    await sleep(
      systemClock,
      (index / addresses.length) * startWithinMs,
      new AbortController().signal,
    );
    rttsMs[address] = await check(address, pingCount);
  }),
);
const { user, system } = process.cpuUsage(startCpu);
probe.close();
process.stdout.write(`${JSON.stringify({ cpuMs: (user + system) / 1000, rttsMs })}\n`);

async function check(hostname, count) {
  const request = { hostname, pingCount: count, ipFamily: 'IPv4' };
  const { failure, response } = await probe.probe(request, {
    signal: new AbortController().signal,
    clock: systemClock,
    deadlineMs: systemClock.monotonicMs() + 60_000,
    resolver,
    guard: { isActive: false, deniedBy: () => null },
    log: new JobLog(systemClock),
  });
  if (response === null) throw new Error(failure.message);
  return response.pingResults.map(({ rtt }) => rtt);
}
