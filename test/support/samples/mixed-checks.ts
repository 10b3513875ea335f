import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { listening, refusingPort } from '../servers/tcp-servers.ts';
import type { RunningService } from '../service/deployment.ts';

export const PERIOD_SECONDS = 10;

/** Adds checks of all kinds of this file, and returns their ids. */
export type AddChecks = (count: number) => Promise<readonly string[]>;

/**
 * Checks that are due every ten seconds. Of every ten checks, four end at once, five take up to 1.5
 * s, and one fails and is retried after a second.
 */
export async function mixedChecks(slug: string): Promise<(service: RunningService) => AddChecks> {
  const { port } = await slowServer();
  const refusing = await refusingPort();
  onTestFinished(() => refusing.close());
  const common = { frequency: 0, frequencyOffset: PERIOD_SECONDS, privateLocations: [slug] };
  const retryStrategy = { type: 'FIXED', baseBackoffSeconds: 1, maxRetries: 1 };
  const hostname = '127.0.0.1';
  let added = 0;

  return (service) => async (count) => {
    const ids: string[] = [];
    for (const end = added + count; added < end; added += 1) {
      const check = { ...common, name: `check ${added}` };
      if (added % 10 === 0) {
        const request = { hostname, port: refusing.port };
        ids.push(await service.addCheck('tcp', { ...check, request, retryStrategy }));
      } else if (added % 2 === 0) {
        ids.push(await service.addCheck('tcp', { ...check, request: { hostname, port } }));
      } else {
        const url = `http://${hostname}:${port}/?delayMs=${(added * 15) % 1_500}`;
        ids.push(await service.addCheck('api', { ...check, request: { method: 'GET', url } }));
      }
    }
    return ids;
  };
}

/** Answers after the requested delay. */
async function slowServer() {
  const server = createServer((request, response) => {
    const delayMs = Number(new URL(request.url ?? '', 'http://any').searchParams.get('delayMs'));
    const timer = setTimeout(() => response.end(), delayMs);
    response.once('close', () => clearTimeout(timer));
  });
  const open = await listening(server);
  onTestFinished(() => open.close());
  return open;
}
