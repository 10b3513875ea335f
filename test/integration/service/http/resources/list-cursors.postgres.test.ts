import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { ownIds } from '../../../../support/hostile/path-parameters.ts';
import { operationsOf } from '../../../../support/openapi/document.ts';
import { useHostileFixture } from '../../../../support/service/hostile-fixture.ts';

/** Operations that return an array without cursors, and why. */
const NOT_LISTS: Readonly<Record<string, string>> = {
  listAccounts: 'there is one account to a key',
  listArtifacts: 'a result has a few, which are stored with it',
  listSessions: 'a user has at most 100',
};

describe.each(databases)('every list of the API on %s', (kind) => {
  const fixtureOf = useHostileFixture(kind);

  it('has the same entries by pages and by cursors, each once, with links and a total', async () => {
    const { send, victim } = fixtureOf();
    const { apiKey: key } = victim;
    const document = await send({ method: 'GET', path: '/openapi.json', key: null });
    const arrays = operationsOf(document.json).filter(
      ({ method, responses }) =>
        method === 'GET' && responses[200]?.content?.['application/json']?.schema?.type === 'array',
    );
    const lists = arrays.filter(({ parameters = [] }) =>
      parameters.some(({ name }) => name === 'cursor'),
    );
    expect(lists.length).toBeGreaterThan(30);
    const others = arrays.filter((operation) => !lists.includes(operation));
    expect(new Set(others.map(({ operationId }) => operationId))).toEqual(
      new Set(Object.keys(NOT_LISTS)),
    );
    const counts: Record<string, number> = {};
    for (const { path, name, parameters = [] } of lists) {
      const ids = [...ownIds(path, victim)];
      const asked = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ids.shift() ?? ''));
      const filters = new URLSearchParams();
      if (parameters.some((each) => each.name === 'from')) filters.set('from', '0');
      if (parameters.some((each) => each.name === 'to')) filters.set('to', '9999999999');
      if (
        parameters.some((each) => each.in === 'query' && each.name === 'checkId' && each.required)
      )
        filters.set('checkId', String(victim.checkIds.url));
      const get = async (query: Record<string, string>) => {
        const all = new URLSearchParams({ ...Object.fromEntries(filters), ...query });
        const answer = await send({ method: 'GET', path: `${asked}?${all}`, key });
        expect(answer.status, `${name}: ${answer.text}`).toBe(200);
        expect(answer.headers.link, name).toMatch(/rel="first"/);
        return answer;
      };
      const page = await get({ limit: '100' });
      const entries = page.json.map((entry: unknown) => JSON.stringify(entry));
      expect(page.headers['x-total-count'], name).toBe(String(entries.length));
      const walked: string[] = [];
      for (let cursor = 'start'; ; ) {
        const part = await get({ limit: '2', cursor });
        expect(part.headers['x-total-count'], name).toBe(String(entries.length));
        walked.push(...part.json.map((entry: unknown) => JSON.stringify(entry)));
        cursor = String(part.headers['x-next-cursor']);
        // Transactions of other tests on the same server delay entries.
        const isEnd = !/rel="next"/.test(String(part.headers.link));
        if (isEnd && walked.length >= entries.length) break;
      }
      expect(new Set(walked), name).toEqual(new Set(entries));
      expect(walked, name).toHaveLength(entries.length);
      counts[name] = walked.length;
    }
    expect(Object.values(counts).filter((count) => count > 0).length).toBeGreaterThan(20);
  });
});
