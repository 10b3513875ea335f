// Connects to targets with the agent's connectTcp from dist, for the system tests.
// Usage: node connect-driver.mjs OPTIONS, which are ConnectOptions of connect-in-namespace.ts as JSON.
// Prints a ConnectReport for each target, as one line of JSON.
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, isIP } from 'node:net';
import { connectTcp } from '../../../dist/agent/net/connect.js';
import { JobLog } from '../../../dist/agent/probes/job-log.js';
import { systemClock } from '../../../dist/runtime/clock.js';

const { targets, names = {}, listen = [], useUpDescriptors = false } = JSON.parse(process.argv[2]);

const resolver = {
  async resolve(hostname, family) {
    const known = names[hostname] ?? [hostname];
    const addresses = known.filter((address) => isIP(address) === family);
    if (addresses.length > 0) return { ok: true, addresses };
    const message = `${hostname} has no IPv${family} address`;
    return { ok: false, failure: { code: 'DNS_NO_ADDRESS', message } };
  },
};

const servers = [];
for (const { host, port } of listen) {
  const server = createServer((socket) => socket.destroy()).listen(port, host);
  await once(server, 'listening');
  servers.push(server);
}

const taken = [];
while (useUpDescriptors) {
  try {
    taken.push(openSync('/dev/null', 'r'));
  } catch {
    break;
  }
}

const reports = [];
for (const target of targets) {
  const log = new JobLog(systemClock);
  const outcome = await connectTcp(target, {
    signal: new AbortController().signal,
    clock: systemClock,
    deadlineMs: systemClock.monotonicMs() + 5000,
    resolver,
    guard: { isActive: false, deniedBy: () => null },
    log,
  });
  if (outcome.ok) outcome.socket.destroy();
  reports.push({
    code: outcome.ok ? null : outcome.failure.code,
    message: outcome.ok ? null : outcome.failure.message,
    address: outcome.address,
    ipFamily: outcome.ok ? outcome.ipFamily : null,
    log: log.entries().map(({ msg }) => msg),
  });
}
for (const descriptor of taken) closeSync(descriptor);
for (const server of servers) server.close();
process.stdout.write(`${JSON.stringify(reports)}\n`);
