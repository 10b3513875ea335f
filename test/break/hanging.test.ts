import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { lacking } from '../support/process/system-needs.ts';
import { until } from '../support/service/deployment.ts';
import { type StarvedAgent, startAgent } from './support/starvation/fixture.ts';

const HANGING = 1000;
const HEALTHY = 200;
const PERIOD_SECONDS = 10;
/** Slots of each healthy check: more than its period passes while all targets hang. */
const SLOTS_EACH = 3;

const lacks = lacking({ commands: ['taskset'], files: [] });

it.skipIf(lacks !== null)(
  `two hundred healthy checks miss no slot beside a thousand hanging targets (lacking: ${lacks ?? 'nothing'})`,
  { timeout: 180_000 },
  async () => {
    const held = new Set<Socket>();
    let mostHeld = 0;
    const silent = createServer((socket) => {
      held.add(socket);
      mostHeld = Math.max(mostHeld, held.size);
      socket.on('error', () => {});
      socket.on('close', () => held.delete(socket));
      socket.resume();
    });
    const web = createWebServer((_request, response) => {
      response.setHeader('connection', 'close').end('here');
    });
    const hangingPort = await listen(silent, () => held.forEach((socket) => void socket.destroy()));
    const healthyPort = await listen(web, () => web.closeAllConnections());

    const agent = await startAgent(
      [...many('hanging', HANGING, hangingPort), ...many('healthy', HEALTHY, healthyPort)],
      0,
    );
    const startMs = Date.now();
    // An agent short of CPU connects to some of the targets only in a later period.
    await until(
      async () => [...slotsByCheck(agent).values()],
      (slots) => mostHeld === HANGING && slots.every(({ length }) => length >= SLOTS_EACH),
    );
    const { missed, results } = agent;
    const starved = missed.filter(({ reason }) => reason === 'agent_starved').length;
    const text = await agent.ask('/metrics');
    const [waiting, cpuSeconds] = ['vedette_waiting', 'process_cpu_seconds_total'].map((name) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]),
    );
    const seconds = Math.round((Date.now() - startMs) / 1000);
    console.info(JSON.stringify({ seconds, mostHeld, waiting, cpuSeconds, starved }));

    expect(missed.filter(({ reason }) => reason === 'agent_busy')).toEqual([]);
    // A machine short of CPU misses slots for another reason.
    const ofHealthy = missed.filter(isHealthy).filter(({ reason }) => reason !== 'agent_starved');
    expect(ofHealthy).toEqual([]);
    expect(results.filter((one) => isHealthy(one) && one.hasFailures)).toEqual([]);
    const holes = [...slotsByCheck(agent)].flatMap(([checkId, slots]) =>
      slots
        .slice(1)
        .map((slotMs, index) => slotMs - (slots[index] ?? 0))
        .filter((stepMs) => stepMs !== PERIOD_SECONDS * 1000)
        .map((stepMs) => `${checkId}: ${stepMs} ms between two recorded slots`),
    );
    expect(holes).toEqual([]);
  },
);

function isHealthy({ checkId }: { readonly checkId: string }): boolean {
  return checkId.startsWith('healthy');
}

/** The recorded slots of each healthy check, epoch milliseconds. */
function slotsByCheck({ results, missed }: StarvedAgent): ReadonlyMap<string, readonly number[]> {
  const slots = new Map<string, number[]>();
  for (let n = 0; n < HEALTHY; n += 1) slots.set(`healthy-${n}`, []);
  for (const { checkId, checkRunId, resultType } of results) {
    if (resultType === 'FINAL') slots.get(checkId)?.push(checkRunId);
  }
  for (const { checkId, slot, count } of missed) {
    for (let n = 0; n < count; n += 1) slots.get(checkId)?.push(slot + n * PERIOD_SECONDS * 1000);
  }
  for (const each of slots.values()) each.sort((one, other) => one - other);
  return slots;
}

/** Half of them use TLS: their targets hang in the handshake. */
function many(kind: string, count: number, port: number): { readonly entry: object }[] {
  return Array.from({ length: count }, (_, n) => {
    const id = `${kind}-${n}`;
    const scheme = kind === 'hanging' && n % 2 === 0 ? 'https' : 'http';
    const request = { method: 'GET', url: `${scheme}://127.0.0.1:${port}/${n}` };
    return {
      entry: {
        ...{ id, name: id, checkType: 'API', frequency: 0, frequencyOffset: PERIOD_SECONDS },
        ...{ retryStrategy: null, request },
      },
    };
  });
}

/** Closed with the test. */
async function listen(server: Server, cut: () => void): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  onTestFinished(async () => {
    server.close();
    cut();
    await once(server, 'close');
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
