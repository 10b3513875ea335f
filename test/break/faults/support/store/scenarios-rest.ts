import { createHash } from 'node:crypto';
import { FAILED } from '../../../../support/service/alerts-fixture.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture } from './fixture.ts';
import { reporterOf, shopIn } from './scenarios-results.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Without a due instant it scans anyway. */
const MIN_LOOKS = 4;
const BYTES = Buffer.from('what a browser would show of the failure');
const ARTIFACTS = '/agent/v1/artifacts';

export const artifactsScenario: Scenario = {
  name: 'an artifact is announced, put, completed and downloaded',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await shopIn(fixture);
    const { deliver, result } = reporterOf(fixture, berlin);
    const run = result(-3, FAILED);
    await deliver([run]);
    const begin = (bytes: Buffer, name: string) =>
      fixture.agentAsk(berlin.key, ARTIFACTS, {
        resultId: run.id,
        checkId: 'shop',
        name,
        contentType: 'text/plain',
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
    /** Like the agent: starts again if the upload no longer exists. */
    const upload = (bytes: Buffer, name: string) => fixture.step(() => uploadNow(bytes, name));
    const uploadNow = async (bytes: Buffer, name: string): Promise<void> => {
      for (let tries = 0; tries < 5; tries += 1) {
        const { status, json, text } = await begin(bytes, name);
        if (status !== 200) throw new Error(`the upload was answered ${status} ${text}`);
        for (const { url } of json.parts) {
          await fixture.insist({ method: 'PUT', path: url, key: berlin.key, body: bytes });
        }
        const path = `${ARTIFACTS}/${json.uploadId}/complete`;
        const completed = await fixture.insist({ method: 'POST', path, key: berlin.key });
        if (completed.json.complete) return;
      }
      throw new Error('the upload was never complete');
    };
    return async () => {
      await upload(BYTES, 'page.txt');
      // Its agent was killed before it could save that.
      await upload(BYTES, 'page.txt');
      fixture.service.loseContent();
      await upload(Buffer.from('another one'), 'console.txt');
      const path = `/v1/check-results/shop/${run.id}/artifacts`;
      const listed = await fixture.done(200, 'GET', path);
      const texts: string[] = [];
      for (const { url } of listed) texts.push((await fixture.ask('GET', url)).text);
      return { seen: [`${listed.length} artifacts`, ...texts] };
    };
  },
};

/**
 * Advances the clock while the service runs, until it has processed everything due: each scan may
 * hit a fault, and the next one follows a second later.
 */
async function passPresent(
  { service, passUntil, rows }: CaseFixture,
  durationMs: number,
): Promise<void> {
  const { clock, store } = service;
  clock.spend(durationMs);
  await store.query('update service_alive set alive_at = $1::timestamptz', [
    new Date(clock.wallMs()),
  ]);
  const dueBy = new Date(clock.wallMs()).toISOString();
  let scans = 0;
  await passUntil('it was looked', async () => {
    scans += 1;
    if (scans <= MIN_LOOKS) return false;
    const due = await rows(
      `select 1 as one from heartbeats where account_id = $1 and due_at <= '${dueBy}'`,
    );
    return due.length === 0;
  });
}

export const heartbeatsScenario: Scenario = {
  name: 'a heartbeat is pinged, missed, excused and pinged again',
  async prepare(fixture) {
    const heartbeat = { period: 5, periodUnit: 'MINUTES', grace: 1, graceUnit: 'MINUTES' };
    const made = await fixture.done(201, 'POST', '/v1/checks/heartbeats', {
      name: 'Backup',
      tags: ['nightly'],
      heartbeat,
    });
    const ping = async (path: string): Promise<string> => {
      const reply = await fixture.insist({ method: 'GET', path, key: null });
      if (reply.status !== 200) throw new Error(`a ping was answered ${reply.status}`);
      return reply.json.state;
    };
    const path = new URL(made.heartbeat.pingUrl).pathname;
    return async () => {
      const states = [await ping(path)];
      await passPresent(fixture, 5 * MINUTE_MS + 30_000);
      states.push(await ping(path));
      await passPresent(fixture, 7 * MINUTE_MS);
      const failing = await fixture.done(200, 'GET', `/v1/check-statuses/${made.id}`);
      states.push(await ping(path));
      // Nobody could accept pings.
      await fixture.service.clock.stall(7 * MINUTE_MS);
      await fixture.passUntil('it is excused', async () => {
        const rows = await fixture.rows(
          `select from heartbeats where account_id = $1 and failing_since is null`,
        );
        return rows.length > 0;
      });
      const { clock } = fixture.service;
      await fixture.done(201, 'POST', '/v1/maintenance-windows', {
        name: 'Move',
        startsAt: new Date(clock.wallMs() - HOUR_MS).toISOString(),
        endsAt: new Date(clock.wallMs() + 48 * HOUR_MS).toISOString(),
        repeatUnit: 'MONTH',
        tags: ['nightly'],
      });
      await passPresent(fixture, 12 * MINUTE_MS);
      const renewed = await fixture.done(
        200,
        'POST',
        `/v1/checks/heartbeats/${made.id}/ping-token`,
      );
      await ping(new URL(renewed.heartbeat.pingUrl).pathname);
      await fixture.done(200, 'PATCH', `/v1/checks/heartbeats/${made.id}`, {
        heartbeat: { ...heartbeat, grace: 2 },
      });
      const events = await fixture.done(200, 'GET', `/v1/checks/heartbeats/${made.id}/events`);
      await fixture.done(200, 'GET', `/v1/checks/heartbeats/${made.id}/events/${events[0].id}`);
      return {
        seen: [`failing ${failing.hasFailures}`],
        // A client without an answer repeats its ping, which counts as early, and creates another
        // maintenance window.
        mayDiffer: (row) => /^too many: (heartbeat_events .*EARLY|maintenance_windows)/.test(row),
      };
    };
  },
};

const YEAR = `interval '400 days'`;

/** Rows beyond every retention, in each table that is cleaned up. */
async function makeOldRows(fixture: CaseFixture): Promise<void> {
  const { accountId } = fixture;
  await fixture.rows(
    `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
     values ($1, 'shop', 'berlin', now() - ${YEAR}, now() - ${YEAR}, 1, 'agent_busy')`,
  );
  await fixture.rows(
    `insert into check_alerts (id, account_id, check_id, name, check_type, alert_type,
       run_location, response_time, started_at, created_at)
     values ('${accountId}', $1, 'shop', 'Shop', 'URL', 'ALERT_FAILURE', 'berlin', 1,
       now() - ${YEAR}, now() - ${YEAR})`,
  );
  await fixture.rows(
    `insert into artifacts (account_id, id, check_id, result_id, name, content_type, sha256, bytes,
       created_at)
     values ($1, '${accountId}', 'shop', 'result', 'a.txt', 'text/plain', repeat('a', 64), 1,
       now() - ${YEAR})`,
  );
  // One of the two that waited for their results has its result by now.
  await fixture.rows(
    `insert into check_results (check_id, account_id, id, sequence_id, result_type, slot, created_at,
       has_failures, has_errors, run_location, check_type, body)
     select 'shop', $1, 'noted', 'noted', 'FINAL', slot, slot, false, false, 'berlin', 'URL', '{}'
     from (select to_timestamp(${fixture.startMs / 1000}) as slot) as start`,
  );
  await fixture.rows(
    `insert into artifacts (account_id, id, check_id, result_id, name, content_type, sha256, bytes,
       created_at, run_location)
     select $1, '${accountId}-' || result_id, 'shop', result_id, 'a.txt', 'text/plain',
       repeat('b', 64), 1, now() - interval '2 days', 'berlin'
     from unnest(array['noted', 'never']) as result_id`,
  );
  await fixture.rows(
    `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot, sequence_id,
       not_after, state, created_at)
     select '${accountId}', $1, id, 'shop', 'requested', now() - ${YEAR}, 'sequence',
       now() - ${YEAR}, 'done', now() - ${YEAR} from private_locations where account_id = $1`,
  );
  await fixture.rows(
    `insert into heartbeat_events (account_id, check_id, id, state, at, source, user_agent, pings)
     values ($1, 'shop', 'event', 'RECEIVED', now() - ${YEAR}, '', '', 1)`,
  );
  await fixture.rows(
    `insert into assigned_slots (location_id, check_id, since, until)
     select id, 'old', now() - ${YEAR}, now() - ${YEAR} from private_locations
     where account_id = $1`,
  );
}

const HOURS = 30;
const OLD_ROWS = `
  select from missed_slots where account_id = $1
  union all select from check_alerts where account_id = $1
  union all select from artifacts where account_id = $1 and not has_result
  union all select from one_off_runs where account_id = $1
  union all select from heartbeat_events where account_id = $1
  union all select from assigned_slots s join private_locations l on l.id = s.location_id
    where l.account_id = $1 and s.check_id = 'old'`;

/** Rows that could not be removed are removed by the next run. */
async function hoursUntilClean({ service, rows }: CaseFixture): Promise<void> {
  for (let hours = 0; hours < HOURS; hours += 1) {
    await service.clock.stall(HOUR_MS);
    await service.quiet();
    await service.calm();
    if ((await rows(OLD_ROWS)).length === 0) return;
  }
  throw new Error('what is past its retention is never removed');
}

export const startScenario: Scenario = {
  name: 'the service ends, starts again, and cleans up each hour',
  async prepare(fixture) {
    await fixture.location('berlin');
    await shopIn(fixture);
    return async () => {
      fixture.service.faulty.nextStep();
      await fixture.service.stopService();
      fixture.service.faulty.nextStep();
      await fixture.service.startService();
      await fixture.passUntil('it is up', async () => true);
      await makeOldRows(fixture);
      await fixture.step(() => hoursUntilClean(fixture));
      return {};
    };
  },
};
