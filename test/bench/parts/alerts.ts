import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { PATHS } from '../../../src/wire/v1/limits.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { type BenchDatabase, startBenchServer } from '../service/bench-database.ts';
import { createResources, type Resources, withStore } from '../service/create-resources.ts';
import { apiResult } from '../service/ingest-data.ts';
import { startService } from '../service/service-process.ts';

const CHECKS = 2_000;
const CHECKS_OF_SHORT = 200;
const BATCH = 100;
const HALF_A_MINUTE = { of: 'value', bound: 'at most', number: 30 } as const;

interface Round {
  /** Seconds from the answer that the first results are stored to the first message. */
  readonly first: number;
  /** Seconds from there to the last message of the channels that answer. */
  readonly all: number;
}

/** How soon people are notified if all checks of a location fail at once. */
export const alertsPart: Part = {
  name: 'alerts',
  method: `All ${CHECKS.toLocaleString('en')} checks of a location fail within a minute. The built service, in a separate process on PostgreSQL with fsync, receives the results in batches of ${BATCH} and notifies three channels of all checks: an incident service, a webhook, and a webhook that never responds. The time begins when the service has confirmed the first batch; a message that was sent before that counts as 0 s.`,
  answer:
    'One round, measured while other programs used the machine (load 25 on the two cores). A replica sends at most four messages of a channel at once, so the last of 2,000 comes much later than the first: let a channel group them. The times on an idle machine have not been measured yet.',
  programs: [],
  async run(context) {
    const { short, rounds, progress } = context;
    const checks = short ? CHECKS_OF_SHORT : CHECKS;
    const server = await startBenchServer();
    const found: Round[] = [];
    try {
      for (let round = 1; round <= rounds; round += 1) {
        const one = await measure(await server.open(), checks, context);
        progress(
          `the first message after ${one.first.toFixed(2)} s, all after ${one.all.toFixed(1)} s`,
        );
        found.push(one);
      }
    } finally {
      await server.remove();
    }
    return rowsOf(found, checks);
  },
};

function rowsOf(found: readonly Round[], checks: number): readonly Measured[] {
  const what = `${checks.toLocaleString('en')} checks of a location fail at once (PostgreSQL)`;
  return [
    {
      measure: `Alerts: the first message is sent, ${what}, the worst round`,
      values: found.map(({ first }) => first),
      summary: 'worst',
      unit: 's',
      target: HALF_A_MINUTE,
    },
    {
      measure: `Alerts: two channels have all messages beside one that hangs, ${what}`,
      values: found.map(({ all }) => all),
      unit: 's',
    },
  ];
}

async function measure(
  database: BenchDatabase,
  checks: number,
  { signal }: PartContext,
): Promise<Round> {
  const resources = await createResources(database, checks);
  await giveSlots(database, resources);
  const messages = new Messages(2 * checks);
  const takes = await listen((response) => {
    messages.received();
    response.writeHead(202).end('{}');
  });
  const hangs = await listen(() => {});
  const service = await startService({
    ...database,
    env: {
      ...database.env,
      ENCRYPTION_KEY: '5a'.repeat(32),
      // The receivers are on this machine.
      DELIVERY_DENY: '203.0.113.0/24',
    },
  });
  try {
    for (const channel of [
      { type: 'PAGERDUTY', config: { routingKey: 'a'.repeat(32), url: takes.origin } },
      { type: 'WEBHOOK', config: { name: 'takes', url: takes.origin } },
      { type: 'WEBHOOK', config: { name: 'hangs', url: hangs.origin } },
    ]) {
      await send(
        `${service.origin}/v1/alert-channels`,
        resources.apiKey,
        {
          'content-type': 'application/json',
        },
        JSON.stringify({ ...channel, subscribeAll: true }),
        signal,
      );
    }
    let storedMs = 0;
    for (const body of batchesOf(checks)) {
      const headers = {
        'x-agent-protocol': '1',
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      };
      const url = `${service.origin}${PATHS.results}`;
      await send(url, resources.locationKey, headers, body, signal);
      if (storedMs === 0) storedMs = performance.now();
    }
    await messages.all(signal);
    return {
      first: Math.max(0, messages.firstMs - storedMs) / 1000,
      all: (messages.lastMs - storedMs) / 1000,
    };
  } finally {
    await service.stop();
    takes.close();
    hangs.close();
  }
}

/** As if the location had always had all of its checks. */
async function giveSlots(database: BenchDatabase, { locationId }: Resources): Promise<void> {
  await withStore(database, (store) =>
    store.query(
      `insert into assigned_slots (location_id, check_id, since)
       select $1, id, to_timestamp(0) from checks`,
      [locationId],
    ),
  );
}

function batchesOf(checks: number): readonly Uint8Array<ArrayBuffer>[] {
  const nowMs = Date.now();
  const results = Array.from({ length: checks }, (_, index) => {
    const [checkId, slotMs] = [`check-${index}`, nowMs - (index % 60) * 1_000];
    return { ...apiResult({ checkId, location: 'here', slotMs, number: 0 }), hasFailures: true };
  });
  return Array.from(
    { length: Math.ceil(checks / BATCH) },
    (_, at) =>
      new Uint8Array(
        gzipSync(
          JSON.stringify({
            agentId: 'agent',
            epoch: 1,
            results: results.slice(at * BATCH, (at + 1) * BATCH),
            missed: [],
          }),
        ),
      ),
  );
}

/** The messages that the channels that answer have received. */
class Messages {
  readonly #expected: number;
  #count = 0;
  #done: () => void = () => {};
  firstMs = 0;
  lastMs = 0;

  constructor(expected: number) {
    this.#expected = expected;
  }

  received(): void {
    this.#count += 1;
    this.lastMs = performance.now();
    if (this.#count === 1) this.firstMs = this.lastMs;
    if (this.#count === this.#expected) this.#done();
  }

  all(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = (): void => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      this.#done = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      if (this.#count >= this.#expected) this.#done();
    });
  }
}

async function send(
  url: string,
  key: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
    signal,
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

interface Receiver {
  readonly origin: string;
  close(): void;
}

/** A server that gives each complete request this answer. */
async function listen(answer: (response: ServerResponse) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    await text(request).catch(() => '');
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
