import { Agent } from 'undici';
import { PATHS } from '../../../src/wire/v1/limits.ts';
import type { Measured, PartContext } from '../part.ts';
import type { BenchDatabase } from './bench-database.ts';
import { createResources, withStore } from './create-resources.ts';
import { type Upload, uploadsOf } from './ingest-data.ts';
import { startService } from './service-process.ts';

const AGENTS = 8;
const CHECKS_OF_AN_AGENT = 500;
const BATCH = 250;
/** So short that no slot is too old to change the state of its check, which costs some work. */
const PERIOD_MS = 10_000;
/** Batches of each agent before the first round, which warm the service and its connections. */
const WARM_UP = { short: 1, full: 5 } as const;

/**
 * How many results a second a service takes in: agents post gzip batches over HTTP, each with a
 * connection of its own and one upload under way.
 *
 * @param results how many in one round
 */
export async function measureIngest(
  database: BenchDatabase,
  results: number,
  target: Measured['target'],
  { short, rounds, progress, signal }: PartContext,
): Promise<Measured> {
  progress(`ingest on ${database.name}`);
  const { locationId, locationKey } = await createResources(database, AGENTS * CHECKS_OF_AN_AGENT);
  await giveSlots(database, locationId);
  const warmUp = short ? WARM_UP.short : WARM_UP.full;
  const aRound = Math.ceil(results / AGENTS / BATCH);
  const queues = makeQueues((warmUp + rounds * aRound) * BATCH);
  const service = await startService(database);
  const dispatcher = new Agent({ connections: AGENTS, pipelining: 1 });
  const onAbort = (): void => void dispatcher.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const upload = (from: number, to: number): Promise<number> =>
      uploadAll(queues, from, to, (one) => post(dispatcher, service.origin, locationKey, one));
    await upload(0, warmUp);
    const values: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const from = warmUp + round * aRound;
      values.push(await upload(from, from + aRound));
    }
    const measure = `Service: results taken in over HTTP (${database.name})`;
    const measured = { measure, values, unit: 'results/s' };
    return target === undefined ? measured : { ...measured, target };
  } finally {
    signal.removeEventListener('abort', onAbort);
    await dispatcher.destroy();
    await service.stop();
  }
}

/** As if the location had always had all of its checks. */
async function giveSlots(database: BenchDatabase, locationId: string): Promise<void> {
  await withStore(database, async (store) => {
    await store.query(
      `insert into assigned_slots (location_id, check_id, period_ms, phase_ms, stride, stride_index,
         since)
       select $1, id, $2::int, 0, 1, 0, to_timestamp(0) from checks`,
      [locationId, PERIOD_MS],
    );
    await store.query('analyze assigned_slots');
  });
}

function makeQueues(resultsOfAnAgent: number): readonly (readonly Upload[])[] {
  const slots = Math.ceil(resultsOfAnAgent / CHECKS_OF_AN_AGENT);
  const firstSlotMs = (Math.floor(Date.now() / PERIOD_MS) - slots) * PERIOD_MS;
  return Array.from({ length: AGENTS }, (_, agent) => [
    ...uploadsOf({
      agentId: `agent-${agent}`,
      location: 'here',
      checkIds: Array.from(
        { length: CHECKS_OF_AN_AGENT },
        (__, n) => `check-${agent * CHECKS_OF_AN_AGENT + n}`,
      ),
      firstSlotMs,
      periodMs: PERIOD_MS,
      results: resultsOfAnAgent,
      batch: BATCH,
    }),
  ]);
}

/** Results a second, of these uploads of each queue. */
async function uploadAll(
  queues: readonly (readonly Upload[])[],
  from: number,
  to: number,
  send: (upload: Upload) => Promise<void>,
): Promise<number> {
  let count = 0;
  const startMs = performance.now();
  await Promise.all(
    queues.map(async (queue) => {
      for (const upload of queue.slice(from, to)) {
        await send(upload);
        count += upload.results;
      }
    }),
  );
  return (count * 1000) / (performance.now() - startMs);
}

async function post(
  dispatcher: Agent,
  origin: string,
  key: string,
  { body, results }: Upload,
): Promise<void> {
  const reply = await dispatcher.request({
    origin,
    path: PATHS.results,
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'x-agent-protocol': '1',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body,
  });
  const text = await reply.body.text();
  const taken = reply.statusCode === 200 ? JSON.parse(text).accepted.length : 0;
  if (taken !== results) {
    throw new Error(`the service took ${taken} of ${results}: ${text.slice(0, 500)}`);
  }
}
