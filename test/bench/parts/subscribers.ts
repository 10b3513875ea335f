import { randomBytes, randomUUID } from 'node:crypto';
import { createSecretBox, KEY_BYTES, type SecretBox } from '../../../src/runtime/secret-box.ts';
import {
  addressDigests,
  sealSubscriber,
} from '../../../src/service/status-pages/subscriptions/address.ts';
import { insertSubscriber } from '../../../src/service/status-pages/subscriptions/sql.ts';
import { newLinkToken } from '../../../src/service/users/link-token.ts';
import { type Driver, startDriver } from '../driver.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { type BenchDatabase, openPostgres } from '../service/bench-database.ts';
import { BENCH_KEY, createPage } from '../service/bench-page.ts';
import { withStore } from '../service/create-resources.ts';
import { startService } from '../service/service-process.ts';

const SUBSCRIBERS = 10_000;
const SUBSCRIBERS_OF_SHORT = 200;
const HOLD_MS = 200;
const NONE = { of: 'value', bound: 'at most', number: 0 } as const;
const MINUTE = { of: 'value', bound: 'at most', number: 60 } as const;

interface Received {
  readonly seconds: number;
  readonly doubled: number;
  readonly lost: number;
}

/** How long it takes until every subscriber of a status page has the mail about an incident. */
export const subscribersPart: Part = {
  name: 'subscribers',
  method: `A status page with ${SUBSCRIBERS.toLocaleString('en')} subscribers by email, on one replica of the built service with PostgreSQL and fsync. An incident is opened whose update notifies them. A mail server in a separate process accepts each mail after ${HOLD_MS} ms. The time runs from the request that opens the incident to the last mail. Over the 40 connections of a replica, this delay alone takes 50 s.`,
  answer:
    'One round, measured while other programs used the machine (load 15 to 20 on the two cores). 50 s of the time are the 200 ms for each mail over 40 connections; the rest has not been measured on an idle machine yet.',
  programs: [],
  async run(context) {
    const { short, signal } = context;
    const database = await openPostgres();
    try {
      const receiver = await startDriver('mail-receiver', { holdMs: HOLD_MS }, signal);
      try {
        const subscribers = short ? SUBSCRIBERS_OF_SHORT : SUBSCRIBERS;
        return rowsOf(await measure(database, receiver, subscribers, context), subscribers);
      } finally {
        await receiver.stop();
      }
    } finally {
      await database.remove();
    }
  },
};

async function measure(
  database: BenchDatabase,
  receiver: Driver,
  subscribers: number,
  { rounds, progress }: PartContext,
): Promise<readonly Received[]> {
  const key = randomBytes(KEY_BYTES);
  const service = await startService({
    ...database,
    env: {
      ...database.env,
      FIRST_API_KEY: BENCH_KEY,
      ENCRYPTION_KEY: key.toString('hex'),
      SMTP_URL: `smtp://127.0.0.1:${receiver.firstLine}`,
      SMTP_FROM: 'status@bench.test',
      PUBLIC_URL: 'https://bench.test',
    },
  });
  try {
    const { pageId, serviceIds } = await createPage(service.origin, 1);
    progress(`${subscribers} subscribers are made`);
    await insertSubscribers(database, createSecretBox([key]), pageId, subscribers);
    const all: Received[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const update = { status: 'INVESTIGATING', description: 'Bench.', notifySubscribers: true };
      const received = await receiver.ask<Received>({
        url: `${service.origin}/v1/status-pages/incidents`,
        key: BENCH_KEY,
        body: {
          name: `Incident ${round}`,
          severity: 'MAJOR',
          services: serviceIds,
          incidentUpdates: [update],
        },
        mails: subscribers,
      });
      const { seconds, doubled, lost } = received;
      progress(`the last mail after ${seconds.toFixed(1)} s, ${doubled} doubled, ${lost} lost`);
      all.push(received);
    }
    return all;
  } finally {
    await service.stop();
  }
}

/** Subscribers of all services who have confirmed. */
async function insertSubscribers(
  database: BenchDatabase,
  box: SecretBox,
  pageId: string,
  count: number,
): Promise<void> {
  await withStore(database, async (store) => {
    const [page] = await store.query<{ accountId: string }>(
      'select account_id from status_pages where id = $1',
      [pageId],
    );
    const accountId = page?.accountId ?? '';
    const nowMs = Date.now();
    await store.transaction(async (tx) => {
      for (let n = 0; n < count; n += 1) {
        const id = randomUUID();
        const address = `reader-${n}@bench.test`;
        const { token, tokenHash } = newLinkToken();
        await insertSubscriber(tx, {
          ...{ accountId, pageId, id, kind: 'email', tokenHash, serviceIds: null },
          sealed: sealSubscriber(box, { accountId, id }, { address, token, signingKey: null }),
          addressDigest: addressDigests(box, 'email', address)[0],
          base: 'https://bench.test/status/bench',
          confirmedAtMs: nowMs,
          createdAtMs: nowMs,
        });
      }
    });
    // In a real service, autovacuum would have done this before a page has so many subscribers.
    await store.query('analyze status_page_subscribers');
  });
}

function rowsOf(received: readonly Received[], subscribers: number): readonly Measured[] {
  const to = `to ${subscribers.toLocaleString('en')} subscribers`;
  return [
    {
      measure: `Status page: the last of the mails ${to}`,
      unit: 's',
      values: received.map(({ seconds }) => seconds),
      target: MINUTE,
    },
    {
      measure: `Status page: mails ${to} that came twice, the worst round`,
      unit: 'mails',
      values: received.map(({ doubled }) => doubled),
      summary: 'worst',
      target: NONE,
    },
    {
      measure: `Status page: mails ${to} that were lost, the worst round`,
      unit: 'mails',
      values: received.map(({ lost }) => lost),
      summary: 'worst',
      target: NONE,
    },
  ];
}
