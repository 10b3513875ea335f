// Traces with the agent's tracer from dist in its own process, for the system tests. Usage: node
// traceroute-driver.mjs OPTIONS (TraceOptions of routed-network.ts as JSON). Prints TraceReport as one
// line of JSON.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import packet from 'dns-packet';
import { openTracer } from '../../../dist/agent/evidence/traceroute/open-tracer.js';
import { tracerouteText } from '../../../dist/agent/evidence/traceroute/traceroute-text.js';
import { systemClock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';

const options = JSON.parse(process.argv[2]);
const { targets, user = null, limitMs = 10_000, stopAtFirstProcess = false, names = {} } = options;

// Load the addon while its files are readable; check its capabilities later.
await Promise.allSettled([import('net-ping')]);
if (user !== null) {
  process.setgroups([]);
  process.setgid(user);
  process.setuid(user);
}

const nameServer = createSocket('udp4');
nameServer.on('message', (bytes, from) => {
  const { id, questions } = packet.decode(bytes);
  const [{ name }] = questions;
  const data = names[name];
  const answers = data === undefined ? [] : [{ type: 'PTR', name, ttl: 60, data }];
  const flags = packet.RECURSION_AVAILABLE;
  const answer = packet.encode({ type: 'response', id, flags, questions, answers });
  nameServer.send(answer, from.port, from.address);
});
nameServer.bind(0, '127.0.0.1');
await once(nameServer, 'listening');
const { port } = nameServer.address();

const log = createLogger({ level: 'warn', destination: process.stderr, format: 'pretty' });
const tracer = await openTracer({
  clock: systemClock,
  log,
  resolver: {
    nameServers: () => ({
      servers: [{ address: '127.0.0.1', port }],
      timeoutMs: 1000,
      attempts: 1,
    }),
  },
  ...(options.programFolders === undefined ? {} : { programFolders: options.programFolders }),
});

const stop = new AbortController();
const startCpu = process.cpuUsage();
const tracing = Promise.all(
  targets.map((address) =>
    tracer.trace({ hostname: address, address }, { signal: stop.signal, limitMs }),
  ),
);
let processesBefore = 0;
if (stopAtFirstProcess) {
  while (processesBefore === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    processesBefore = traceProcesses().length;
  }
  stop.abort();
}
const traced = await tracing;
const cpu = process.cpuUsage(startCpu);
tracer.close();
nameServer.close();

const status = readFileSync('/proc/self/status', 'utf8');
process.stdout.write(
  JSON.stringify({
    effectiveCapabilities: /^CapEff:\s*(\S+)/m.exec(status)?.[1] ?? null,
    method: tracer.method,
    lack: tracer.lack,
    traced,
    texts: traced.map((one) => (one.ok ? tracerouteText(one.traceroute) : null)),
    cpuMs: (cpu.user + cpu.system) / 1000,
    processesBefore,
    processesAfter: traceProcesses().length,
  }),
);

// Tracing children of this process, including zombies.
function traceProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/status`, 'utf8');
        return (
          new RegExp(`^PPid:\\s*${process.pid}$`, 'm').test(text) &&
          /^Name:\s*traceroute/m.test(text)
        );
      } catch {
        return false;
      }
    });
}
