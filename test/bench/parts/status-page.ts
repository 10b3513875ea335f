import { request } from 'undici';
import { cpuMsOf } from '../cpu-time.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { openPglite } from '../service/bench-database.ts';
import { BENCH_KEY, createPage } from '../service/bench-page.ts';
import { startService } from '../service/service-process.ts';
import { runToEnd } from '../support/child-process.ts';
import { beside, measureInTurns } from '../support/compare.ts';
import { durationsOf } from '../support/durations.ts';
import { withStaticServer } from '../support/static-server.ts';

const SERVICES = 30;
const CONNECTIONS = 50;
const CODING = 'br';
const SIZE_LIMIT_KB = 50;
const BYTES_OF_KB = 1_000;
const TARGET = { of: 'value', bound: 'at least', number: 3_000 } as const;

export const statusPagePart: Part = {
  name: 'status-page',
  method: `A status page of ${SERVICES} services that does not change, served by the built service, compared with nginx (one worker) that serves the same compressed bytes and headers from a file. wrk sends requests over ${CONNECTIONS} connections that stay open, on the same machine.`,
  programs: ['nginx', 'wrk'],
  run: measure,
};

async function measure(context: PartContext): Promise<readonly Measured[]> {
  const { peerSeconds } = durationsOf(context);
  const database = await openPglite();
  const service = await startService({
    ...database,
    env: { ...database.env, FIRST_API_KEY: BENCH_KEY },
  });
  try {
    const url = `${service.origin}/status/bench`;
    await createPage(service.origin, SERVICES);
    const answer = await request(url, { headers: { 'accept-encoding': CODING } });
    const body = Buffer.from(await answer.body.arrayBuffer());
    const same = { body, headers: addedBy(answer.headers) };
    return await withStaticServer(same, async (nginx) => {
      await load(url, peerSeconds);
      const of = await measureInTurns(
        {
          page: async () => {
            const beforeMs = cpuMsOf(service.pid);
            const { perSecond, requests } = await load(url, peerSeconds);
            return { perSecond, cpuMsEach: (cpuMsOf(service.pid) - beforeMs) / requests };
          },
          nginx: () => load(nginx, peerSeconds),
        },
        context,
      );
      return [
        beside(
          'Status page: requests from memory',
          '/s',
          of('page', 'perSecond'),
          { name: 'nginx, the same bytes', values: of('nginx', 'perSecond') },
          TARGET,
        ),
        { measure: 'Status page: CPU a request', unit: 'ms', values: of('page', 'cpuMsEach') },
        {
          measure: 'Status page: size, compressed',
          unit: 'KB',
          values: [body.length / BYTES_OF_KB],
          target: { of: 'value', bound: 'at most', number: SIZE_LIMIT_KB },
        },
      ];
    });
  } finally {
    await service.stop();
    await database.remove();
  }
}

/** Headers that nginx does not send by itself. */
function addedBy(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const own = ['connection', 'content-length', 'content-type', 'date', 'etag', 'keep-alive'];
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !own.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** @throws Error if an answer is not 200 */
async function load(
  url: string,
  seconds: number,
): Promise<{ readonly perSecond: number; readonly requests: number }> {
  const { stdout } = await runToEnd('wrk', [
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '-H',
    `accept-encoding: ${CODING}`,
    url,
  ]);
  const [, requests = 0] = /(\d+) requests in/.exec(stdout)?.map(Number) ?? [];
  const [, perSecond = 0] = /Requests\/sec:\s+([\d.]+)/.exec(stdout)?.map(Number) ?? [];
  if (requests === 0 || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk: ${stdout}`);
  return { perSecond, requests };
}
