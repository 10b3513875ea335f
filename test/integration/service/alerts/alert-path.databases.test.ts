import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../../src/service/database/store.ts';
import { readOutgoingConfig } from '../../../../src/service/outgoing/outgoing-config.ts';
import { databases } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type HookServer, hookServer } from '../../../support/servers/hook-server.ts';
import { type MailServer, mailServer } from '../../../support/servers/mail-server.ts';
import {
  deliveriesWhen,
  makeChannel,
  makeWebhook,
  startWorker,
  whenAll,
} from '../../../support/service/alert-deliveries.ts';
import { alertsFixtureOf, FAILED, PASSED } from '../../../support/service/alerts-fixture.ts';
import {
  type ResultsFixture,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { testFeatures } from '../../../support/service/service-features.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const SECRET = 'the key of the hook';
const MINUTE_MS = 60_000;

/** From the results of an agent to the messages to people, with all real parts. */
describe.each(databases)('on %s', (kind) => {
  describe('an alert', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);
    // Removes deliveries that are left, so that the replicas of the next test do not send them.
    afterEach(() => running().store.query('delete from alert_deliveries'));

    let callsUnderWay = 0;
    const counted = async <T>(call: Promise<T>): Promise<T> => {
      callsUnderWay += 1;
      try {
        return await call;
      } finally {
        callsUnderWay -= 1;
      }
    };
    /** The same database. Counts the calls in progress. */
    const watched = (store: Store): Store =>
      Object.assign(Object.create(store), {
        query: (...call: Parameters<Store['query']>) => counted(store.query(...call)),
        transaction: <T>(...call: Parameters<Store['transaction']>) =>
          counted(store.transaction(...call) as Promise<T>),
        listen: store.listen.bind(store),
      });
    /** Lets time pass except while a replica waits for the database, which may be slow. */
    const passUntil = async (condition: () => boolean): Promise<void> => {
      while (!condition()) {
        if (callsUnderWay > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        else await fixture().clock.advance(100);
      }
    };

    /** A second whole service beside the one that answers requests, until the test ends. */
    const startReplica = async (mail: MailServer): Promise<void> => {
      const { store, clock } = fixture();
      const delivery = readOutgoingConfig({
        // The receivers are on this machine.
        HOST: '127.0.0.1',
        SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
        SMTP_FROM: 'Vedette <alerts@vedette.test>',
      });
      const config = { leaseMs: 15_000, retentionDays: 30, staticIpv6s: [], delivery };
      const { features, close } = await testFeatures(watched(store), clock, { config });
      const stopping = new AbortController();
      const work = features.work(stopping.signal);
      onTestFinished(async () => {
        stopping.abort();
        await work;
        await close();
      });
    };

    const incidents = async () => (await fixture().mine.get('/v1/status-pages/incidents')).json;

    it('of a failed run sends a signed webhook and a mail and opens an incident, each once', async () => {
      const { mine } = fixture();
      const [hook, mail] = await Promise.all([hookServer(), mailServer()]);
      const { run, alerts } = alertsFixtureOf(fixture());
      const hookId = await makeWebhook(
        fixture(),
        {
          url: hook.url,
          webhookSecret: SECRET,
          headers: [{ key: 'X-K', value: 'v', locked: true }],
        },
        ['shop'],
      );
      const mailId = await makeChannel(fixture(), {
        type: 'EMAIL',
        config: { address: 'ops@example.com' },
        subscriptions: [{ checkId: 'shop' }],
      });
      const { json: service } = await mine.post('/v1/status-pages/services', { name: 'Shop' });
      const triggerIncident = {
        serviceId: service.id,
        severity: 'MAJOR',
        name: 'The shop is down',
        description: 'We look into it.',
        notifySubscribers: false,
      };
      expect((await mine.patch('/v1/checks/shop', { triggerIncident })).status).toBe(200);
      await startReplica(mail);
      await startReplica(mail);

      await run(1, FAILED);
      for (const id of [hookId, mailId]) await deliveriesWhen(fixture(), id, whenAll('sent'));
      expect(await incidents()).toMatchObject([
        { name: 'The shop is down', services: [service.id], lastUpdateStatus: 'INVESTIGATING' },
      ]);
      await run(2, FAILED);
      await run(3, PASSED);
      const all = (rows: readonly { state: string }[]) =>
        rows.length === 2 && whenAll('sent')(rows);
      for (const id of [hookId, mailId]) await deliveriesWhen(fixture(), id, all);
      expect(await incidents()).toMatchObject([{ lastUpdateStatus: 'RESOLVED' }]);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);

      expect(typesIn(hook)).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
      const to = fixture().clock.wallMs() + 1;
      const { json: listed } = await mine.get(`/v1/check-alerts?from=0&to=${to}`);
      for (const [number, { body, headers }] of hook.requests.entries()) {
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        expect(headers).toMatchObject({ 'x-service-signature': signature, 'x-k': 'v' });
        expect(JSON.parse(body).ALERT_ID).toBe(listed[1 - number].id);
      }
      expect(mail.mails.map(({ to: [address], source }) => [address, subjectOf(source)])).toEqual([
        ['ops@example.com', expect.stringMatching(/^Check shop has failed: ./)],
        ['ops@example.com', expect.stringMatching(/^Check shop has recovered \(after .+\)$/)],
      ]);
    });

    it('that is due by time is created once with several replicas', async () => {
      const { mine, clock } = fixture();
      const [hook, mail] = await Promise.all([hookServer(), mailServer()]);
      const { run } = alertsFixtureOf(fixture());
      const id = await makeWebhook(fixture(), { url: hook.url }, ['shop']);
      const alertSettings = {
        escalationType: 'TIME_BASED',
        timeBasedEscalation: { minutesFailingThreshold: 5 },
        reminders: { amount: 1, interval: 1 },
      };
      await mine.patch('/v1/checks/shop', { useGlobalAlertSettings: false, alertSettings });
      await startReplica(mail);
      await startReplica(mail);
      await run(0, FAILED);
      /** Lets time pass. Then both replicas find the same alert due. */
      const pass = async (minutes: number): Promise<void> => {
        clock.spend(minutes * MINUTE_MS);
        await clock.advance(2_000);
      };
      await pass(5);
      await passUntil(() => typesIn(hook).length === 1);
      await deliveriesWhen(fixture(), id, whenAll('sent'));
      await pass(1);
      await passUntil(() => typesIn(hook).length === 2);
      await pass(2);
      const rows = await deliveriesWhen(fixture(), id, whenAll('sent'));
      expect(rows.map((row: Record<string, unknown>) => [row.alertType, row.reminder])).toEqual([
        ['ALERT_FAILURE_REMAIN', 1],
        ['ALERT_FAILURE_REMAIN', 0],
      ]);
      expect(hook.requests.map(({ body }) => JSON.parse(body).REMINDER)).toEqual([0, 1]);
    });

    it('that is open is sent to Alertmanager again within 5 minutes, also by another process', async () => {
      const { clock } = fixture();
      const [hook, mail] = await Promise.all([hookServer(), mailServer()]);
      const { run } = alertsFixtureOf(fixture());
      const id = await makeChannel(fixture(), {
        type: 'ALERTMANAGER',
        config: { url: new URL(hook.url).origin },
        subscriptions: [{ checkId: 'shop' }],
      });
      const first = startWorker(fixture());
      await run(0, FAILED);
      await deliveriesWhen(fixture(), id, whenAll('sent'));
      await first.stop();
      await startReplica(mail);
      const sentAtMs = clock.wallMs();
      clock.spend(3 * MINUTE_MS);
      await passUntil(() => hook.requests.length === 2);
      expect(clock.wallMs() - sentAtMs).toBeLessThan(5 * MINUTE_MS);
      await deliveriesWhen(fixture(), id, whenAll('sent'));
    });

    it('is sent again under the same id after a process was killed before it stored the outcome', async () => {
      const { mortal, kill } = mortalStore(fixture());
      const hook = await hookServer((_, response) => {
        kill();
        response.end('ok');
      });
      const { run, alerts } = alertsFixtureOf(fixture());
      const id = await makeWebhook(fixture(), { url: hook.url, webhookSecret: SECRET }, ['shop']);
      // The worker has its own clock, so advancing it wakes no other.
      const itsClock = new FakeClock(fixture().clock.wallMs());
      const killed = startWorker({ ...fixture(), store: mortal, clock: itsClock });
      await run(0, FAILED);
      await eventually(() => hook.requests.length === 1);
      await run(1, PASSED);
      // Its database does not answer, so it gives up saving the outcome.
      const hasGivenUp = () =>
        killed.logs.records().some(({ msg }) => String(msg).includes('could not save the outcome'));
      while (!hasGivenUp()) await itsClock.advance(1_000);
      await killed.stop();

      const [recovery, failure] = await deliveriesWhen(fixture(), id, () => true);
      expect([failure.state, recovery.state]).toEqual(['sending', 'waiting']);
      await fixture().store.query('update alert_deliveries set lease_until = now()');
      const mail = await mailServer();
      await startReplica(mail);
      await startReplica(mail);
      const rows = await deliveriesWhen(fixture(), id, whenAll('sent'));
      expect(rows.map((row: { attempts: number }) => row.attempts)).toEqual([1, 2]);
      expect(typesIn(hook)).toEqual(['ALERT_FAILURE', 'ALERT_FAILURE', 'ALERT_RECOVERY']);
      const ids = hook.requests.map(({ headers }) => headers['x-service-delivery']);
      expect(ids).toEqual([failure.id, failure.id, recovery.id]);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
    });

    it('is given only for a stored result, and once for a result that is uploaded twice', async () => {
      const { berlin, send, store } = fixture();
      const hook = await hookServer();
      const { result, alerts } = alertsFixtureOf(fixture());
      const id = await makeWebhook(fixture(), { url: hook.url }, ['shop']);
      startWorker(fixture());
      const batch = { results: [result(0, FAILED)] };
      await store.query('alter table alert_deliveries rename to gone');
      const lost = await send(berlin, batch);
      await store.query('alter table gone rename to alert_deliveries');
      expect(lost.status).toBeGreaterThanOrEqual(500);
      expect(await alerts()).toEqual([]);
      // The agent got no valid answer, and sends the result again, twice at once.
      const again = await Promise.all([send(berlin, batch), send(berlin, batch)]);
      expect(again.map(({ status }) => status)).toEqual([200, 200]);
      await deliveriesWhen(fixture(), id, whenAll('sent'));
      expect(typesIn(hook)).toEqual(['ALERT_FAILURE']);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
    });
  });
});

function typesIn(hook: HookServer): readonly string[] {
  return hook.requests.map(({ body }) => JSON.parse(body).ALERT_TYPE);
}

function subjectOf(source: string): string | undefined {
  return /^Subject: (.*)\r$/m.exec(source)?.[1];
}

/** The same database until the process is killed. After that it does not answer. */
function mortalStore({ store }: ResultsFixture): {
  readonly mortal: Store;
  readonly kill: () => void;
} {
  let isDead = false;
  const mortal = Object.assign(Object.create(store), {
    query: (text: string, params?: readonly unknown[]) =>
      isDead ? Promise.reject(new Error('killed')) : store.query(text, params),
    listen: store.listen.bind(store),
  });
  return {
    mortal,
    kill() {
      isDead = true;
    },
  };
}
