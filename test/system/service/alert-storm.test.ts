import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { groupBy } from '../../../src/runtime/group-by.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { hookServer } from '../../support/servers/hook-server.ts';
import { mailServer } from '../../support/servers/mail-server.ts';
import { FAILED } from '../../support/service/alerts-fixture.ts';
import {
  newApiKey,
  type RunningService,
  readDatabase,
  startService,
  until,
} from '../../support/service/deployment.ts';
import { resultOfRun } from '../../support/service/results-fixture.ts';

const CHECKS = 2_000;
const BATCH = 100;
const KILLS = 2;
/** Three times its duration beside other tests. */
const LIMIT_MS = 600_000;
/** As in the delivery worker: how many messages of a channel a killed process may repeat. */
const AT_ONCE = 4;

describe('a storm of alerts', () => {
  it('of 2,000 checks of a location reaches each channel once although the service is killed twice and one channel hangs', {
    timeout: LIMIT_MS,
  }, async () => {
    // It counts incidents by their key, as PagerDuty does.
    const pager = await hookServer((_, response) => response.writeHead(202).end('{}'));
    const mail = await mailServer();
    const hanging = await hookServer(() => {});
    const grouped = await hookServer();

    const database = await newDatabase('postgres');
    if (!('databaseUrl' in database)) throw new Error('there is no PostgreSQL');
    const query = (sql: string, params: readonly unknown[] = []) =>
      readDatabase(database, sql, params);
    const options = {
      ...database,
      apiKey: newApiKey(),
      env: {
        ENCRYPTION_KEY: '5a'.repeat(32),
        // The receivers are on this machine.
        DELIVERY_DENY: '203.0.113.0/24',
        SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
        SMTP_FROM: 'Vedette <alerts@vedette.test>',
      },
    };
    let service: Promise<RunningService> = startService(options);
    const first = await service;

    const location = await first.addLocation('berlin');
    const template = await first.addCheck('url', {
      name: 'Template',
      privateLocations: [location.slug],
      frequency: 1,
      request: { url: 'https://shop.test/' },
    });
    await addChecks(query, template, location.id);
    const channel = async (fields: object): Promise<number> => {
      const made = await first.ask('/v1/alert-channels', { method: 'POST', body: fields });
      expect(made.status, made.text).toBe(201);
      await query(
        `insert into alert_subscriptions (account_id, check_id, channel_id, activated)
         select account_id, id, $1::bigint, true from checks where id like 'check-%'`,
        [made.json.id],
      );
      return made.json.id;
    };
    await channel({
      type: 'PAGERDUTY',
      config: { routingKey: 'a'.repeat(32), url: new URL(pager.url).origin },
    });
    await channel({ type: 'EMAIL', config: { address: 'ops@example.com' } });
    const hangingId = await channel({ type: 'WEBHOOK', config: { name: 'A', url: hanging.url } });
    await channel({
      type: 'WEBHOOK',
      config: { name: 'B', url: grouped.url },
      groupBy: 'LOCATION',
      groupWindow: 5,
    });

    /** Repeats the upload like an agent, until the service has stored the results. */
    const upload = async (results: readonly unknown[]): Promise<void> => {
      for (;;) {
        const { ask } = await service;
        const reply = await ask('/agent/v1/results', {
          key: location.key,
          method: 'POST',
          headers: {
            'x-agent-protocol': '1',
            'content-encoding': 'gzip',
            'content-type': 'application/json',
          },
          body: gzipSync(JSON.stringify({ agentId: 'agent', epoch: 1, results, missed: [] })),
        }).catch(() => null);
        if (reply?.status !== 200) continue;
        expect(reply.json.accepted).toHaveLength(results.length);
        return;
      }
    };
    const uploadAll = async (): Promise<void> => {
      const nowMs = Date.now();
      const all = Array.from({ length: CHECKS }, (_, index) =>
        resultOfRun({
          ...FAILED,
          checkId: `check-${index + 1}`,
          runLocation: location.slug,
          slot: nowMs - (index % 60) * 1_000,
        }),
      );
      for (let from = 0; from < CHECKS; from += BATCH) await upload(all.slice(from, from + BATCH));
    };
    const killAndRestart = async (): Promise<void> => {
      const running = await service;
      service = running.kill('SIGKILL').then(async () => {
        // The leases of killed processes end after a minute. Carried deliveries have no owner.
        await query('update alert_deliveries set lease_until = now() where owner is not null');
        return startService(options);
      });
      await service;
    };
    const untilReceived = async (count: number): Promise<void> => {
      await until(
        async () => pager.requests.length,
        (received) => received >= count,
      );
    };

    const uploaded = uploadAll();
    await untilReceived(50);
    await killAndRestart();
    await untilReceived(CHECKS / 2);
    await killAndRestart();
    await uploaded;
    // All but the channel that hangs, while it hangs.
    await until(
      () =>
        query(
          `select count(*)::int as open from alert_deliveries
           where finished_at is null and channel_id <> $1::bigint`,
          [hangingId],
        ),
      ([row]) => row?.open === 0,
    );

    const alerts = await query(
      'select count(*)::int as given, count(distinct check_id)::int as checks from check_alerts',
    );
    expect(alerts).toEqual([{ given: CHECKS, checks: CHECKS }]);
    const log = await query(
      `select channel_id, count(*)::int as count, bool_and(state = 'sent') as sent
       from alert_deliveries where channel_id <> $1::bigint group by channel_id`,
      [hangingId],
    );
    expect(log.map(({ count, sent }) => [count, sent])).toEqual(Array(3).fill([CHECKS, true]));

    // It still hangs: nothing arrived there, and nothing that waits for it is lost.
    const waiting = await query(
      `select count(*)::int as count, count(*) filter (where state = 'sent')::int as sent
       from alert_deliveries where channel_id = $1::bigint`,
      [hangingId],
    );
    expect(waiting).toEqual([{ count: CHECKS, sent: 0 }]);
    expect(hanging.requests.length).toBeGreaterThan(0);

    const incidents = pager.requests.map(({ body }) => JSON.parse(body).dedup_key);
    expect(new Set(incidents).size).toBe(CHECKS);
    expect(incidents.length).toBeLessThanOrEqual(CHECKS + KILLS * AT_ONCE);

    const mails = mail.mails.map(({ source }) => /^message-id: *(.*)$/im.exec(source)?.[1]);
    const timesOf = groupBy(mails, (id) => id);
    expect(timesOf.size).toBe(CHECKS);
    expect(mails.length).toBeLessThanOrEqual(CHECKS + KILLS * AT_ONCE);
    const most = Math.max(...[...timesOf.values()].map(({ length }) => length));
    expect(most).toBeLessThanOrEqual(1 + KILLS);

    const messages = grouped.requests.map(({ body }) => JSON.parse(body));
    const counts = new Map(messages.map((body) => [body.DELIVERY_ID, body.NOTICE_COUNT]));
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(CHECKS);
    // A repeated message contains the same checks.
    for (const body of messages) expect(body.NOTICE_COUNT).toBe(counts.get(body.DELIVERY_ID));
    expect(messages.length).toBeLessThan(CHECKS / 4);
  });
});

/** `check-1` and so on, as the template, with every slot assigned to the location. */
async function addChecks(
  query: (sql: string, params?: readonly unknown[]) => Promise<unknown>,
  template: string,
  locationId: string,
): Promise<void> {
  await query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body, revision)
     select c.account_id, 'check-' || n, c.check_type, 'Check ' || n, true, false, c.frequency, c.body, 1
     from checks c cross join generate_series(1, $2::int) as n where c.id = $1`,
    [template, CHECKS],
  );
  await query(
    `insert into assigned_slots (location_id, check_id, since)
     select $1, 'check-' || n, to_timestamp(0) from generate_series(1, $2::int) as n`,
    [locationId, CHECKS],
  );
}
