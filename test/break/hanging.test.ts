import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { lacking } from '../support/system-needs.ts';
import { startAgent } from './support/starvation-lab.ts';

const HANGING = 1000;
const HEALTHY = 200;
const PERIOD_SECONDS = 10;
/** Of each healthy check: more than its period passes while all targets hang. */
const FINALS_EACH = 3;

const lacks = lacking({ commands: ['taskset'], files: [] });

it.skipIf(lacks !== null)(
  `a thousand hanging targets cost two hundred healthy checks no slot (lacking: ${lacks ?? 'nothing'})`,
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
    const fromMs = Date.now();
    const slots = new Map<string, number[]>();
    const ended = (): boolean => {
      slots.clear();
      for (const { checkId, checkRunId, resultType } of agent.results) {
        if (resultType !== 'FINAL' || !checkId.startsWith('healthy')) continue;
        slots.set(checkId, [...(slots.get(checkId) ?? []), checkRunId]);
      }
      for (const { checkId, slot } of agent.missed) {
        if (checkId.startsWith('healthy'))
          slots.set(checkId, [...(slots.get(checkId) ?? []), slot]);
      }
      const counts = [...slots.values()].map(({ length }) => length);
      return counts.length === HEALTHY && Math.min(...counts) >= FINALS_EACH;
    };
    while (!ended()) await new Promise((resolve) => setTimeout(resolve, 500));
    const missed = agent.missed.map(({ checkId, reason }) => ({ checkId, reason }));
    const waiting = /^vedette_waiting (\d+)$/m.exec(await agent.ask('/metrics'))?.[1];
    console.info(JSON.stringify({ seconds: (Date.now() - fromMs) / 1000, mostHeld, waiting }));

    expect(missed.filter(({ reason }) => reason === 'agent_busy')).toEqual([]);
    expect(missed.filter(({ checkId }) => checkId.startsWith('healthy'))).toEqual([]);
    expect(mostHeld).toBe(HANGING);
    expect(
      agent.results.filter(
        ({ checkId, hasFailures }) => hasFailures && checkId.startsWith('healthy'),
      ),
    ).toEqual([]);
  },
);

function many(kind: string, count: number, port: number): { readonly entry: object }[] {
  return Array.from({ length: count }, (_, n) => {
    const id = `${kind}-${n}`;
    const request = { method: 'GET', url: `http://127.0.0.1:${port}/${n}` };
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
