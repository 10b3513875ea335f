import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import {
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

const BREAKDOWN = '/v1/check-state-breakdown';
const NONE = { failing: 0, degraded: 0, unknown: 0, passing: 0, paused: 0 };

/** src/service/README.md, "Check statuses". */
describe.each(databases)('on %s, the breakdown of states', (kind) => {
  const fixture = useResultsFixture(useRunningService(kind));

  const entries = async (query: string) => {
    const reply = await fixture().mine.get(`${BREAKDOWN}${query}`);
    expect(reply.status).toBe(200);
    return reply.json.entries;
  };
  const entry = (value: string | null, counts: object, name: string | null = null) => ({
    value,
    name,
    silentSince: null,
    counts: { ...NONE, ...counts },
  });
  const fails = (checkId: string) => {
    const { deliver, berlin } = fixture();
    const result = resultOfRun({ checkId, slot: minutesAgo(1), hasFailures: true });
    return deliver(berlin, { results: [result] });
  };

  it('parts checks by tag, the most urgent first, and names those without', async () => {
    const { check, mine } = fixture();
    await check('a', { tags: ['web', 'prod', 'prod'] });
    await check('b', { tags: ['web'], activated: false });
    await check('c', { tags: ['alpha'] });
    await fails('a');
    expect(await entries('?by=tag')).toEqual([
      entry('prod', { failing: 1 }),
      entry('web', { failing: 1, paused: 1 }),
      entry('alpha', { unknown: 1 }),
      entry(null, { unknown: 1 }),
    ]);
    expect(await entries('?by=tag&state=failing&tag=web')).toEqual([
      entry('prod', { failing: 1 }),
      entry('web', { failing: 1 }),
    ]);
    expect(await entries('?by=tag&location=%00')).toEqual([]);
    const { json: theirs } = await fixture().theirs.get(`${BREAKDOWN}?by=tag`);
    expect(theirs).toEqual({ entries: [], omitted: 0 });
    for (const query of ['', '?by=name', '?by=tag&limit=1']) {
      expect((await mine.get(`${BREAKDOWN}${query}`)).status).toBe(400);
    }
  });

  it('parts checks by group, with its name', async () => {
    const { check, mine } = fixture();
    const group = async (name: string): Promise<number> =>
      (await mine.post('/v1/check-groups', { name })).json.id;
    const [shop, mail] = [await group('Shop'), await group('mail')];
    await group('Empty');
    await check('a', { groupId: shop });
    await check('b', { groupId: mail });
    await check('c', { groupId: mail });
    expect(await entries('?by=group')).toEqual([
      entry(String(mail), { unknown: 2 }, 'mail'),
      entry(String(shop), { unknown: 1 }, 'Shop'),
      entry(null, { unknown: 1 }),
    ]);
    expect(await entries(`?by=group&groupId=${shop}`)).toEqual([
      entry(String(shop), { unknown: 1 }, 'Shop'),
    ]);
  });

  it('parts checks by location, those of their group where it has any, and heartbeats by none', async () => {
    const { check, mine, berlin, oslo } = fixture();
    const { json: group } = await mine.post('/v1/check-groups', {
      name: 'Northern',
      privateLocations: ['oslo'],
    });
    await mine.delete('/v1/checks/shop');
    await check('grouped', { groupId: group.id, privateLocations: ['berlin'] });
    await check('public', { privateLocations: ['berlin'], locations: ['eu-west-1'] });
    await mine.put('/v1/checks/heartbeats/beat', {
      heartbeat: { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' },
    });
    const nameOf = async ({ id }: { readonly id: string }): Promise<string> =>
      (await mine.get(`/v1/private-locations/${id}`)).json.name;
    const found = await entries('?by=location');
    expect(found).toHaveLength(4);
    expect(found).toEqual(
      expect.arrayContaining([
        entry('berlin', { unknown: 1 }, await nameOf(berlin)),
        entry('oslo', { unknown: 1 }, await nameOf(oslo)),
        entry('eu-west-1', { unknown: 1 }),
        entry(null, { unknown: 1 }),
      ]),
    );
  });

  it('has 500 entries at most, and counts those that it omits', async () => {
    const { store, mine } = fixture();
    await store.query(
      `insert into checks (account_id, id, check_type, name, activated, muted, frequency, tags, body)
       select account_id, 'copy-' || n, check_type, 'copy', activated, muted, frequency,
         jsonb_build_array('tag ' || n), body
       from checks, generate_series(1, 503) n where account_id = $1 and id = 'shop'`,
      [mine.accountId],
    );
    const { json } = await mine.get(`${BREAKDOWN}?by=tag`);
    expect(json.entries).toHaveLength(500);
    // Those without a tag are the last.
    expect(json.omitted).toBe(4);
  });
});
