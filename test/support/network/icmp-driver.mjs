// Runs the agent's ICMP probe from dist as a process without privileges, for the system tests.
// Usage: node icmp-driver.mjs OPTIONS (DriverOptions of ping-fixture.ts as JSON). Prints DriverReport
// as one line of JSON, and before it a line "pause" if requested.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createIcmpProbe } from '../../../dist/agent/probes/icmp/probe.js';
import { JobLog } from '../../../dist/agent/probes/job-log.js';
import { systemClock } from '../../../dist/runtime/clock.js';

const options = JSON.parse(process.argv[2]);
const { user = null, rounds = 1, copies = 1, pause = false, stallMs = 0, names = {} } = options;
const requests = Array.from({ length: copies }, () => options.requests).flat();

// Load the addons while their files are readable; check their capabilities later.
await Promise.allSettled([import('koffi'), import('net-ping')]);
if (user !== null) {
  process.setgroups([]);
  process.setgid(user);
  process.setuid(user);
}

const resolver = {
  async resolve(hostname, family) {
    const known = names[hostname] ?? [hostname];
    const addresses = known.filter((address) => isIP(address) === family);
    if (addresses.length > 0) return { ok: true, addresses };
    const message = `${hostname} has no IPv${family} address`;
    return { ok: false, failure: { code: 'DNS_NO_ADDRESS', message } };
  },
};

function stall() {
  const endMs = performance.now() + stallMs;
  while (performance.now() < endMs);
}

// An echo's 2 s begin with its send: the stall blocks the loop while its reply arrives.
const clock = {
  ...systemClock,
  after(delayMs, callback) {
    if (stallMs > 0 && delayMs === 2000) setImmediate(stall);
    return systemClock.after(delayMs, callback);
  },
};
const probe = createIcmpProbe({ clock });
const startCpu = process.cpuUsage();
const startMs = performance.now();
const runs = [];
for (let round = 0; round < rounds; round += 1) {
  if (round > 0 && pause) {
    process.stdout.write('pause\n');
    await once(process.stdin, 'data');
  }
  runs.push(
    ...(await Promise.all(
      requests.map(async (request) => {
        const log = new JobLog(systemClock);
        const outcome = await probe.probe(request, {
          signal: new AbortController().signal,
          clock: systemClock,
          deadlineMs: systemClock.monotonicMs() + 30_000,
          resolver,
          guard: { deniedBy: () => null },
          log,
        });
        return { outcome, log: log.entries().map(({ msg }) => msg) };
      }),
    )),
  );
}
const tookMs = performance.now() - startMs;
const cpu = process.cpuUsage(startCpu);
probe.close();
process.stdin.destroy();

const status = readFileSync('/proc/self/status', 'utf8');
process.stdout.write(
  JSON.stringify({
    uid: process.getuid(),
    effectiveCapabilities: /^CapEff:\s*(\S+)/m.exec(status)?.[1] ?? null,
    tookMs,
    cpuMs: (cpu.user + cpu.system) / 1000,
    runs,
  }),
);
