import { isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  CHECK_ERROR_GROUP,
  CLIENT_CERTIFICATE,
  ENTITLEMENTS,
  HEARTBEAT_EVENT,
  ROOT_CAUSE_ANALYSIS,
  SNIPPET,
  TEST_SESSION_ERROR_GROUP,
} from '../../../support/contract/resource-tables.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { type ContractFixture, created, formed, formedList } from './contract-fixture.ts';
import { storyOf } from './story.ts';

const HEARTBEATS = '/v1/checks/heartbeats';
const ANALYSES = '/v1/root-cause-analyses';
const GROUPS = '/v1/error-groups';
/** 2.9, 2.10, 2.12 to 2.15, 4.10, 4.11, 4.14 to 4.20. */
export function resourcesContract(fixture: () => ContractFixture): void {
  it('heartbeat events have the form of the table', async () => {
    const { mine, running } = fixture();
    const heartbeat = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
    const check = created(await mine.post(HEARTBEATS, { name: 'Backup', heartbeat }));
    const ping = new URL(check.heartbeat.pingUrl).pathname;
    const headers = { 'user-agent': 'backup/1.0' };
    for (const ask of [{}, { method: 'POST' }, { headers }]) {
      expect((await running.app.ask(ping, { key: null, ...ask })).status).toBe(200);
    }
    const events = (await mine.get(`${HEARTBEATS}/${check.id}/events`)).json;
    expect(events.length).toBeGreaterThan(0);
    for (const { id } of events) {
      const path = `${HEARTBEATS}/${check.id}/events/${id}`;
      const { event } = formed(HEARTBEAT_EVENT, await mine.get(path));
      expect(event.id).toBe(id);
    }
  });

  describe('error groups', () => {
    it('have the form of the table, and are archived', async () => {
      const { mine } = fixture();
      const [group] = (await mine.get(`${GROUPS}?checkId=shop`)).json;
      const path = `${GROUPS}/${group.id}`;
      const one = formed(CHECK_ERROR_GROUP, await mine.get(path));
      expect(one).toMatchObject({ checkId: 'shop', archivedUntilNextEvent: false });
      const archived = await mine.patch(path, { archivedUntilNextEvent: true });
      expect(formed(CHECK_ERROR_GROUP, archived).archivedUntilNextEvent).toBe(true);
      formed(CHECK_ERROR_GROUP, await mine.patch(path, { archiveForEver: true }));
      formed(CHECK_ERROR_GROUP, await mine.patch(path, {}));
      for (const field of ['archiveForEver', 'archivedUntilNextEvent']) {
        expect((await mine.patch(path, { [field]: 'yes' })).status).toBe(400);
      }
    });

    it('have root cause analyses of the form of their table', async () => {
      const { mine, features } = fixture();
      const [group] = (await mine.get(`${GROUPS}?checkId=api-check`)).json;
      const analysisOf = async (what: object) => {
        const asked = await mine.post(ANALYSES, what);
        expect(asked.status, asked.text).toBe(202);
        await features.rootCauseAnalyses.makePending(new AbortController().signal);
        return formed(ROOT_CAUSE_ANALYSIS, await mine.get(`${ANALYSES}/${asked.json.id}`));
      };
      const analysis = await analysisOf({ errorGroupId: group.id });
      expect(analysis).toMatchObject({ errorGroupId: group.id, checkType: 'API' });
      expect(await analysisOf({ checkId: 'old' })).toMatchObject({ checkId: 'old' });
      const { rootCauseAnalyses } = formed(
        CHECK_ERROR_GROUP,
        await mine.get(`${GROUPS}/${group.id}`),
      );
      expect(rootCauseAnalyses.length).toBeGreaterThan(0);
    });

    it('of the test sessions of a project have the form of theirs', async () => {
      const { mine, oldMs } = fixture();
      const { old } = storyOf(oldMs, oldMs);
      const session = { projectId: 'shop', environment: 'staging', results: old };
      created(await mine.post('/v1/test-sessions', session));
      const path = '/v1/test-session-error-groups/projects/shop';
      const groups = formedList(TEST_SESSION_ERROR_GROUP, await mine.get(path));
      expect(groups).toMatchObject([{ projectId: 'shop', environments: ['staging'] }]);
    });
  });

  it('client certificates have the form of the table', async () => {
    const { mine } = fixture();
    const { cert, key } = await createSelfSigned();
    for (const ca of [null, cert]) {
      const body = { host: '*.shop.test', cert, key, ca };
      const { id } = created(await mine.post('/v1/client-certificates', body));
      const path = `/v1/client-certificates/${id}`;
      expect(formed(CLIENT_CERTIFICATE, await mine.get(path))).toMatchObject({ id, cert, ca });
      expect((await mine.delete(path)).status).toBe(204);
    }
  });

  it('snippets have the form of the table', async () => {
    const { mine } = fixture();
    const script = "const a = 1;\nmodule.exports = 'x';\n";
    const { id } = created(await mine.post('/v1/snippets', { name: 'login', script }));
    expect(formed(SNIPPET, await mine.get(`/v1/snippets/${id}`))).toMatchObject({ id, script });
    await mine.patch(`/v1/snippets/${id}`, { script: '' });
    expect(formed(SNIPPET, await mine.get(`/v1/snippets/${id}`)).updated_at).not.toBeNull();
    expect((await mine.get('/v1/snippets/one')).status).toBe(400);
  });

  it('variables are made and read', async () => {
    const { mine } = fixture();
    created(await mine.post('/v1/variables', { key: 'SHOP', value: 'x' }));
    expect((await mine.get('/v1/variables/SHOP')).json).toMatchObject({ key: 'SHOP', value: 'x' });
  });

  it('the entitlements of the account have the form of the table', async () => {
    const { mine, theirs } = fixture();
    const path = `/v1/accounts/${mine.accountId}/entitlements`;
    const { locations, entitlements } = formed(ENTITLEMENTS, await mine.get(path));
    expect(locations.all.length).toBeGreaterThan(0);
    expect(entitlements.length).toBeGreaterThan(0);
    expect((await theirs.get(path)).status).toBe(404);
  });

  it('the addresses of check runs are a text of IPv6 addresses', async () => {
    const reply = await fixture().mine.get('/v1/static-ipv6s.txt');
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(/^text\/plain/);
    const lines = reply.text.trim().split('\n');
    expect(lines.map((line) => isIPv6(line.replace(/\/\d+$/, '')))).toEqual([true, true]);
  });
}
