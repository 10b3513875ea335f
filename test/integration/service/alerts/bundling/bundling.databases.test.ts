import { afterEach, describe, expect, it } from 'vitest';
import type { NotificationAttempt } from '../../../../../src/model/alerting/notification-attempt.ts';
import { claimDeliveries } from '../../../../../src/service/alerts/delivery/claims.sql.ts';
import { listDeliveries } from '../../../../../src/service/alerts/delivery/sql.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import type { Row } from '../../../../../src/service/database/store.ts';
import { recordAttempt } from '../../../../../src/service/outbox/shared.sql.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { claimAsPreviousRelease } from '../../../../support/previous-release/claim-deliveries.ts';
import { type HookServer, hookServer } from '../../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeCheck,
  makeWebhook,
  noticeOf,
  put,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const HOUR_MS = 3_600_000;
const CHECKS = ['a', 'b', 'c'];

describe.each(databases)('on %s', (kind) => {
  describe('a channel that groups', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    // Removes deliveries that are left, so that the workers of the next test do not send them.
    afterEach(() => running().store.query('delete from alert_deliveries'));

    const start = async (hook: HookServer, fields: object): Promise<number> => {
      for (const id of CHECKS) await makeCheck(service(), id);
      const id = await makeWebhook(service(), { url: hook.url }, CHECKS);
      const patched = await service().mine.patch(`${CHANNELS}/${id}`, fields);
      expect(patched).toMatchObject({ status: 200, json: fields });
      return id;
    };
    const give = (id: string, fields: Partial<Omit<AlertNotice, 'check'>> = {}): Promise<void> =>
      put(service(), noticeOf(service(), { ...fields, check: { id, name: id } }));
    const said = (hook: HookServer) =>
      hook.requests.map(({ body }) => {
        const { NOTICE_COUNT, NOTICE_LIST, ALERT_TITLE } = JSON.parse(body);
        return NOTICE_COUNT === 1 ? ALERT_TITLE : NOTICE_LIST;
      });
    const idsIn = (hook: HookServer) =>
      hook.requests.map(({ body }) => JSON.parse(body).DELIVERY_ID);

    /** Claims deliveries, as a process that ends before it sends them. */
    const claimAndEnd = ({ maxCarried = 10 } = {}) =>
      claimDeliveries(service().store, {
        owner: 'a process that ended',
        atMs: service().clock.wallMs(),
        leaseMs: 1,
        limit: 10,
        perChannel: 4,
        perAccount: 40,
        maxCarried,
        busyChannels: {},
        busyAccounts: {},
        notForRepeats: { room: 0, perChannel: 0, perAccount: 0 },
      });
    /** The names of the checks whose notices a replica of the previous release sends now. */
    const sentByPreviousRelease = async (): Promise<readonly string[]> => {
      const { store, clock } = service();
      const [owner, atMs] = ['a replica of the previous release', clock.wallMs()];
      const claimed = await claimAsPreviousRelease(store, { owner, atMs });
      for (const { id, attempt } of claimed) {
        const outcome = { state: 'sent', dueAtMs: null, status: 200, error: null } as const;
        await recordAttempt(store, {
          outbox: 'alert_deliveries',
          id,
          owner,
          attempt,
          atMs,
          outcome,
        });
      }
      return claimed.map(({ check }) => check);
    };

    it('sends one message for the checks of a location, and logs its outcome for each', async () => {
      const hook = await hookServer();
      const id = await start(hook, { groupBy: 'LOCATION', groupWindow: 30 });
      await give('a');
      await give('b');
      await give('c', { runLocation: 'us-east-1' });
      const { clock } = service();
      const waiting = await deliveriesWhen(service(), id, whenAll('waiting'));
      const dueAt = new Date(clock.wallMs() + 30_000).toISOString();
      expect(waiting).toMatchObject(Array(3).fill({ nextAttemptAt: dueAt, waitsFor: 'GROUP' }));
      clock.spend(30_000);
      const attempts: string[] = [];
      const onAttempt = ({ headline, others }: NotificationAttempt) =>
        void attempts.push(`${headline} +${others}`);
      startWorker(service(), {}, undefined, { onAttempt });
      startWorker(service(), {}, undefined, { onAttempt });
      const rows = await deliveriesWhen(service(), id, whenAll('sent'));
      await eventually(() => attempts.length === 2);
      expect(attempts).toEqual(expect.arrayContaining(['a has failed +1', 'c has failed +0']));
      expect(rows).toMatchObject(Array(3).fill({ attempts: 1, lastStatus: 200, waitsFor: null }));
      expect(rows.map((row: { messageCount: number }) => row.messageCount)).toEqual([1, 2, 2]);
      expect(hook.requests).toHaveLength(2);
      expect(said(hook)).toEqual(
        expect.arrayContaining(['c has failed', ['a has failed', 'b has failed']]),
      );
    });

    it('counts the notices of a message once for all of its deliveries on a page', async () => {
      const id = await start(await hookServer(), { groupBy: 'LOCATION' });
      for (const check of CHECKS) await give(check);
      service().clock.spend(20_000);
      await claimAndEnd();
      const { store, mine } = service();
      const plans: string[] = [];
      const explaining = {
        query: async <R extends Row>(text: string, params?: readonly unknown[]) => {
          const form = 'explain (analyze, costs off, timing off, summary off)';
          const lines = await store.query(`${form} ${text}`, params);
          plans.push(lines.flatMap((line) => Object.values(line)).join('\n'));
          return store.query<R>(text, params);
        },
      };
      const asked = { accountId: mine.accountId, of: { channelId: id }, states: [] };
      const rows = await listDeliveries(explaining, { ...asked, limit: 10, offset: 0 });
      expect(rows.map(({ carriedWith }) => carriedWith)).toEqual([2, 2, 2]);
      expect(plans.join('\n').match(/ carried \(.*loops=\d+/g)).toEqual([
        expect.stringMatching(/loops=1$/),
      ]);
    });

    it('sends a message that was refused again as it was, and later notices by themselves', async () => {
      let answers = 0;
      const hook = await hookServer((_, response) => {
        answers += 1;
        response.writeHead(answers === 1 ? 503 : 200).end();
      });
      const id = await start(hook, { groupBy: 'LOCATION' });
      await give('a');
      await give('b');
      service().clock.spend(20_000);
      startWorker(service());
      const wasRefused = (rows: readonly { readonly lastStatus: number | null }[]) =>
        rows.every(({ lastStatus }) => lastStatus === 503);
      await deliveriesWhen(service(), id, wasRefused);
      await give('c');
      await service().clock.advance(20_000);
      await deliveriesWhen(service(), id, whenAll('sent'));
      const both = ['a has failed', 'b has failed'];
      expect(said(hook)).toHaveLength(3);
      expect(said(hook)).toEqual(expect.arrayContaining([both, 'c has failed']));
      const [first, ...others] = idsIn(hook);
      expect(others.filter((other) => other === first)).toHaveLength(1);
    });

    it('sends a message again as it was if the process ended in between', async () => {
      const hook = await hookServer();
      const id = await start(hook, { groupBy: 'LOCATION' });
      await give('a');
      await give('b');
      const { clock } = service();
      clock.spend(20_000);
      expect(await claimAndEnd()).toMatchObject([{ isBundle: true, attempt: 1 }]);
      await give('c');
      clock.spend(20_000);
      startWorker(service());
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(said(hook)).toEqual(
        expect.arrayContaining([['a has failed', 'b has failed'], 'c has failed']),
      );
      expect(hook.requests).toHaveLength(2);
    });

    it('sends the notices that the previous release left out of its message', async () => {
      const hook = await hookServer();
      const id = await start(hook, { groupBy: 'LOCATION' });
      await give('a');
      await give('b');
      service().clock.spend(20_000);
      await claimAndEnd();
      expect(await sentByPreviousRelease()).toEqual(['a']);
      expect(await sentByPreviousRelease()).toEqual([]);
      startWorker(service());
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(said(hook)).toEqual(['b has failed']);
    });

    it('sends several messages for more notices than one may contain, for each channel', async () => {
      const hook = await hookServer();
      const fields = { groupBy: 'LOCATION' };
      const ids = [await start(hook, fields), await start(hook, fields)];
      for (const check of CHECKS) await give(check);
      service().clock.spend(20_000);
      await claimAndEnd({ maxCarried: 1 });
      for (const id of ids) {
        const rows = await deliveriesWhen(service(), id, () => true);
        const states = rows.map(({ state }: { readonly state: string }) => state);
        expect(states.toSorted()).toEqual(['sending', 'sending', 'waiting']);
      }
    });

    it('sends a message that failed as a whole again', async () => {
      let answers = 0;
      const hook = await hookServer((_, response) => {
        answers += 1;
        // A redirect is final.
        response.writeHead(answers === 1 ? 302 : 200).end();
      });
      const id = await start(hook, { groupBy: 'LOCATION' });
      await give('a');
      await give('b');
      service().clock.spend(20_000);
      startWorker(service());
      const failed = await deliveriesWhen(service(), id, whenAll('failed'));
      await service().mine.post(`${CHANNELS}/${id}/deliveries/${failed.at(-1).id}/resend`);
      const rows = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(rows).toMatchObject([
        { attempts: 1, lastStatus: 200 },
        { attempts: 1, lastStatus: 200 },
      ]);
      expect(said(hook)).toEqual(Array(2).fill(['a has failed', 'b has failed']));
      expect(new Set(idsIn(hook)).size).toBe(1);
    });

    it('sends a notice by itself that is sent again on request', async () => {
      const hook = await hookServer();
      const id = await start(hook, { groupBy: 'LOCATION' });
      await give('a');
      await give('b');
      service().clock.spend(20_000);
      startWorker(service());
      const [last] = await deliveriesWhen(service(), id, whenAll('sent'));
      await service().mine.post(`${CHANNELS}/${id}/deliveries/${last.id}/resend`);
      await eventually(() => hook.requests.length === 2);
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(said(hook)).toEqual([['a has failed', 'b has failed'], 'b has failed']);
    });

    it('collects degraded checks for its digest, but sends failures at once', async () => {
      const hook = await hookServer();
      const id = await start(hook, { degradedDigestHour: 9 });
      await service().mine.patch(`/v1/accounts/${service().mine.accountId}`, {
        timeZone: 'Europe/Berlin',
      });
      await give('a', { alertType: 'ALERT_DEGRADED' });
      await give('b', { alertType: 'ALERT_DEGRADED' });
      await give('b', { alertType: 'ALERT_DEGRADED_REMAIN', reminder: 1 });
      await give('b', { alertType: 'ALERT_DEGRADED_RECOVERY' });
      await give('a', { alertType: 'ALERT_DEGRADED_FAILURE' });
      startWorker(service());
      await eventually(() => hook.requests.length === 1);
      expect(said(hook)).toEqual(['a was degraded and has failed']);
      const digestRows = (await deliveriesWhen(service(), id, () => true)).filter(
        ({ state }: { readonly state: string }) => state === 'waiting',
      );
      expect(digestRows).toMatchObject(
        Array(3).fill({ nextAttemptAt: '2026-01-01T08:00:00.000Z' }),
      );
      service().clock.spend(8 * HOUR_MS);
      await service().clock.advance(5_000);
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(hook.requests).toHaveLength(2);
      expect(said(hook)[1]).toEqual([
        expect.stringMatching(/^a is degraded, 2026-01-01T/),
        expect.stringMatching(/^b is degraded, 2026-01-01T/),
        expect.stringMatching(/^b is no longer degraded, 2026-01-01T/),
      ]);
    });

    it('sends the end of a problem at once if the digest would not be the first to report the problem', async () => {
      const hook = await hookServer();
      const id = await start(hook, { degradedDigestHour: 9 });
      await give('a', { alertType: 'ALERT_DEGRADED' });
      await give('a', { alertType: 'ALERT_DEGRADED_FAILURE' });
      await give('a', { alertType: 'ALERT_FAILURE_DEGRADED' });
      await give('a', { alertType: 'ALERT_DEGRADED_RECOVERY' });
      await give('b', { alertType: 'ALERT_DEGRADED' });
      await service().mine.patch(`${CHANNELS}/${id}`, { degradedDigestHour: null });
      await give('b', { alertType: 'ALERT_DEGRADED_RECOVERY' });
      startWorker(service());
      await eventually(() => hook.requests.length === 3);
      expect(said(hook)[2]).toBe('a is no longer degraded');
      const isWaiting = ({ state }: { readonly state: string }) => state === 'waiting';
      const rows = (await deliveriesWhen(service(), id, () => true)).filter(isWaiting);
      expect(rows).toMatchObject(
        ['b', 'b', 'a'].map((checkId) => ({
          checkId,
          nextAttemptAt: '2026-01-01T09:00:00.000Z',
        })),
      );
    });

    it('lets a replica of the previous release send notices that wait for a digest, and later ones after them', async () => {
      const hook = await hookServer();
      await start(hook, { degradedDigestHour: 9 });
      await give('a', { alertType: 'ALERT_DEGRADED' });
      await give('a', { alertType: 'ALERT_DEGRADED_FAILURE' });
      expect(await sentByPreviousRelease()).toEqual(['a']);
      expect(await sentByPreviousRelease()).toEqual(['a']);
    });
  });
});
