import { describe, expect, it } from 'vitest';
import type { AssignmentMessage } from '../../../../src/wire/v1/assignment.ts';
import { MAX_ASSIGNMENTS, MAX_POLL_RESPONSE_BYTES } from '../../../../src/wire/v1/limits.ts';
import type { PollResponse } from '../../../../src/wire/v1/poll.ts';
import { type DatabaseKind, useMigratedStore } from '../../../support/database/databases.ts';
import { type AgentFixture, useAgentFixture } from '../../../support/service/agent-fixture.ts';
import { sorted } from '../../../support/service/polling-agent.ts';

/** Without triggers, which take most of the time. They are not needed: all checks are sent. */
async function fillLocation({ store, cellar }: AgentFixture, checks: number): Promise<void> {
  await store.query('alter table checks disable trigger checks_changed');
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select account_id, 'check-' || n, check_type, 'check-' || n, activated, muted, frequency, body
     from checks, generate_series(1, $1::int - 1) n where id = 'check-0'`,
    [checks],
  );
  await store.query('alter table checks enable trigger checks_changed');
  await store.query('insert into location_changes (location_id) values ($1)', [cellar.id]);
  // As the server does within a minute. Plans for a nearly empty table take minutes for a full one.
  await store.query('analyze checks');
}

/**
 * A location of many checks, in pages.
 *
 * @param many 10,000 or more
 */
export function largeLocationSuite(kind: DatabaseKind, many: number): void {
  describe(`a location of ${many} checks on ${kind}`, () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store);

    it('sends short and long bodies unchanged, as many at once as fit', async () => {
      const fixture = fixtureOf();
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.addCheck('check-0');
      await fillLocation(fixture, 60);
      // Some bodies are too long for a row of the table, and one is short only when compressed.
      const text = `(select string_agg(md5(id || n), '') from generate_series(1, 6000) n)`;
      await fixture.store.query(
        `update checks set body = jsonb_set(body, '{request,body}', to_jsonb(case id
           when 'check-1' then repeat('x', 100000) else ${text} end))
         where id = 'check-1' or id like 'check-%2' or id like 'check-%5' or id like 'check-%8'
           or id like 'check-%3' or id like 'check-%4'`,
      );
      await fixture.assigner.pass();
      a.revision = 0;
      const told: AssignmentMessage[] = [];
      let page: string | null = null;
      do {
        const answer: PollResponse = await a.ask({ page });
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MAX_POLL_RESPONSE_BYTES / 2);
        told.push(...answer.upsert);
        a.epoch = answer.epoch;
        page = answer.nextPage;
      } while (page !== null);
      const stored = await fixture.store.query<{ id: string; body: object }>(
        'select id, body from checks where activated order by id',
      );
      expect(told.map(({ checkId, check }) => ({ id: checkId, body: check }))).toEqual(
        stored.map(({ id, body }) => ({ id, body: { ...body, groupId: null } })),
      );
    });

    it('is sent completely and exactly in pages, also while it changes', {
      timeout: 120_000,
    }, async () => {
      const fixture = fixtureOf();
      const { accountId, checks, assigner } = fixture;
      const a = fixture.agent('agent-a');
      const lastId = `check-${many - 1}`;
      await a.look();
      await fixture.addCheck('check-0');
      await fillLocation(fixture, many);
      await assigner.pass();
      await fixture.store.query('analyze assignments');

      const told = new Map<string, AssignmentMessage>();
      const take = (answer: PollResponse): void => {
        expect(answer.full).toBe(true);
        expect(answer.upsert.length).toBeLessThanOrEqual(MAX_ASSIGNMENTS);
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MAX_POLL_RESPONSE_BYTES);
        // The settings come once, with the last page.
        expect(answer.location.settings !== null).toBe(answer.nextPage === null);
        for (const one of answer.upsert) {
          // No check is sent twice.
          expect(told.has(one.checkId)).toBe(false);
          told.set(one.checkId, one);
        }
      };
      a.revision = 0;
      let answer = await a.ask();
      take(answer);
      const { revision, epoch } = answer;
      expect(answer.nextPage).not.toBeNull();
      a.epoch = epoch;
      // While the pages are read, one that was sent is deleted, and one that was not; another changes.
      await checks.remove({ accountId, id: 'check-1' });
      await checks.remove({ accountId, id: lastId });
      await checks.update({ accountId, id: 'check-10' }, { name: 'renamed' });
      await fixture.addCheck('check-00-new');
      await assigner.pass();
      for (let pages = 1; answer.nextPage !== null; pages += 1) {
        expect(pages).toBeLessThan(200);
        answer = await a.ask({ page: answer.nextPage });
        take(answer);
        expect(answer.revision).toBe(revision);
      }
      expect(told.size).toBe(many - 1);
      for (const [id, one] of told) a.checks.set(id, one);
      a.revision = revision;
      const delta = await a.look();
      expect(delta.full).toBe(false);
      expect(sorted(delta.upsert.map(({ checkId }) => checkId))).toEqual([
        'check-00-new',
        'check-10',
      ]);
      expect(sorted(delta.remove)).toEqual(['check-1', lastId]);
      expect(a.checks.size).toBe(many - 1);
      expect(a.checks.get('check-10')?.check).toMatchObject({ name: 'renamed' });

      // A second agent gets its share. The first one loses those checks, in several answers.
      const b = fixture.agent('agent-b');
      await b.look();
      await assigner.pass();
      await b.look();
      const isShared = (): boolean =>
        a.checks.size + b.checks.size === many - 1 &&
        ![...a.checks.keys()].some((id) => b.checks.has(id));
      while (!isShared()) {
        const part = await a.look();
        expect(part.full).toBe(false);
        expect(part.remove.length).toBeGreaterThan(0);
      }
      expect(b.checks.size).toBeGreaterThan(many / 3);

      // When the second agent is gone, the first one gets its checks, and none that it already has.
      const before = [...a.checks.keys()];
      const had = b.checks.size;
      await b.release();
      b.checks.clear();
      // As the assigner continues while there is more to do.
      while ((await assigner.pass()) > 0);
      const given: string[] = [];
      while (!isShared()) {
        const part = await a.look();
        expect(part.full).toBe(false);
        expect(part.remove).toEqual([]);
        expect(part.upsert.length).toBeGreaterThan(0);
        given.push(...part.upsert.map(({ checkId }) => checkId));
      }
      expect(given).toHaveLength(had);
      expect(new Set([...given, ...before]).size).toBe(many - 1);

      // The agent starts again between two pages: the pages so far are not the whole set any more.
      a.revision = 0;
      const first = await a.ask();
      await a.release();
      const next = await a.ask({ page: first.nextPage });
      expect(next).toMatchObject({ revision: 0, epoch: epoch + 1 });
    });
  });
}
