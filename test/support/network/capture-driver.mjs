// Captures packets with the agent's capturer from dist, and makes traffic, for the system tests.
// Reads one JSON command a line from stdin (CaptureCommand of capture-fixture.ts), and answers each
// with one line of JSON; its first line reports the capturer's capability.
import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { openCapturer } from '../../../dist/agent/evidence/capture/capturer.js';
import { connectTcp } from '../../../dist/agent/net/connect.js';
import { JobLog } from '../../../dist/agent/probes/job-log.js';
import { systemClock as clock } from '../../../dist/runtime/clock.js';
import { createLogger } from '../../../dist/runtime/logger.js';

const log = createLogger({ level: 'debug', destination: process.stderr, format: 'json' });
const capturer = await openCapturer({ clock, log });
const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer({ lack: capturer.lack });

let capture = null;
let controller = new AbortController();
const commands = {
  async start({ filter, limitMs, maxBytes }) {
    controller = new AbortController();
    const started = await capturer.start(filter, { signal: controller.signal, limitMs, maxBytes });
    if (started.ok) capture = started.capture;
    return { ok: started.ok, note: started.ok ? null : started.note };
  },
  async stop() {
    const stopped = await capture.stop();
    if (!stopped.ok) return stopped;
    const { bytes, ...captured } = stopped.captured;
    return { ok: true, captured: { ...captured, base64: bytes.toString('base64') } };
  },
  async abort() {
    controller.abort();
    return {};
  },
  /** Connects like the agent; returns the outcome. */
  async connect({ host, port, limitMs }) {
    const outcome = await connectTcp(
      { hostname: host, port, ipFamily: host.includes(':') ? 'IPv6' : 'IPv4' },
      {
        signal: new AbortController().signal,
        clock,
        deadlineMs: clock.monotonicMs() + limitMs,
        resolver: { resolve: async () => ({ ok: true, addresses: [host] }) },
        guard: { deniedBy: () => null },
        log: new JobLog(clock),
      },
    );
    if (outcome.ok) outcome.socket.destroy();
    return { code: outcome.ok ? null : outcome.failure.code };
  },
  /** Reads until the end and sends a text; returns the number of bytes and the error code. */
  read: ({ host, port, say = '' }) =>
    new Promise((resolve) => {
      let bytes = 0;
      let code = null;
      const socket = connect(port, host);
      // Sent after the other side has sent something.
      socket.once('data', () => socket.write(say));
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('error', (error) => {
        code = error.code;
      });
      socket.on('close', () => resolve({ bytes, code }));
    }),
  async lookup({ server, hostname, limitMs }) {
    const resolver = new Resolver({ timeout: limitMs, tries: 1 });
    resolver.setServers([server]);
    return resolver.resolve4(hostname).then(
      () => ({ code: null }),
      (error) => ({ code: error.code }),
    );
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { name, ...options } = JSON.parse(line);
  answer(await commands[name](options));
}
