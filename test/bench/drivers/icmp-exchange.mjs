// Sends echoes through the agent's own exchange, as it is shipped, as fast as possible.
// Usage: node icmp-exchange.mjs < OPTIONS, which are ExchangeOptions of ../icmp/ours.ts as JSON.
// Prints one line of JSON: {tookMs, cpuMs, ends}, where ends counts the outcomes of the echoes.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { destinationOf } from '../../../dist/agent/probes/icmp/address-bytes.js';
import { EchoExchange } from '../../../dist/agent/probes/icmp/echo-exchange.js';
import { openTransport } from '../../../dist/agent/probes/icmp/open-transport.js';
import { systemClock } from '../../../dist/runtime/clock.js';

const { addresses, warmUpEchoes, echoes, inFlight } = JSON.parse(readFileSync(0, 'utf8'));
const targets = addresses.map((address) => ({
  destination: destinationOf(address),
  token: randomBytes(8),
}));
const exchange = new EchoExchange(systemClock);
const opened = await openTransport(4, systemClock, exchange);
if (!opened.ok) throw new Error(opened.failure.message);
exchange.attach(opened.transport);

await send(warmUpEchoes);
const startCpu = process.cpuUsage();
const startMs = performance.now();
const ends = await send(echoes);
const tookMs = performance.now() - startMs;
const { user, system } = process.cpuUsage(startCpu);
exchange.close();
const report = { tookMs, cpuMs: (user + system) / 1000, ends };
process.stdout.write(`${JSON.stringify(report)}\n`);

// As many echoes as allowed are always in flight: when one ends, the next is sent at once.
function send(count) {
  const ended = {};
  let sent = 0;
  let outstanding = 0;
  let filling = false;
  let resolve;
  const fill = () => {
    if (filling) return;
    filling = true;
    while (sent < count && outstanding < inFlight) {
      const target = targets[sent % targets.length];
      sent += 1;
      outstanding += 1;
      exchange.start(target, settle);
    }
    filling = false;
  };
  const settle = ({ kind }) => {
    ended[kind] = (ended[kind] ?? 0) + 1;
    outstanding -= 1;
    if (outstanding === 0 && sent === count) resolve(ended);
    fill();
  };
  return new Promise((settled) => {
    resolve = settled;
    fill();
  });
}
