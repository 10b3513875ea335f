import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const GOOD = { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' };
const BAD = { source: 'STATUS_CODE', comparison: 'IS_NULL' };
const UNPARSED = { source: 'JSON_BODY', property: '$.a[', comparison: 'NOT_NULL' };
const METHODS = { POST: 'post', PUT: 'put', PATCH: 'patch' } as const;
const STORED = { property: '', target: '', regex: null };

const bodyOf = (...assertions: readonly object[]) => ({
  name: 'Shop',
  locations: ['eu-west-1'],
  request: { url: 'https://shop.test/', assertions },
});

describe.each(databases)('on %s, an assertion that no response can meet', (kind) => {
  const service = useAccounts(useRunningService(kind));

  /** As an earlier release stored it. */
  async function storedCheck(...assertions: readonly object[]): Promise<string> {
    const { mine, store } = service();
    const created = await mine.post('/v1/checks/api', bodyOf(GOOD));
    expect(created.status).toBe(201);
    const { id } = created.json;
    await store.query(
      `update checks set body = jsonb_set(body, '{request,assertions}', $3::jsonb)
       where account_id = $1 and id = $2`,
      [mine.accountId, id, JSON.stringify(assertions.map((each) => ({ ...STORED, ...each })))],
    );
    return id;
  }

  it.each([
    ['POST', '/v1/checks/api', {}],
    ['POST', '/v1/checks', { checkType: 'API' }],
    ['PUT', '/v1/checks/api/new-check', {}],
    ['PUT', '/v1/checks/new-check', { checkType: 'API' }],
  ] as const)('is refused by %s %s, with its path and what to do', async (method, path, fields) => {
    const { mine } = service();
    const body = { ...bodyOf(GOOD, BAD, UNPARSED), ...fields };
    const refused = await mine[METHODS[method]](path, body);
    expect(refused.status).toBe(400);
    expect(problemsIn(refused)).toEqual([
      'body.request.assertions[1].comparison must be another one: IS_NULL fails for every response, as the status code is a whole number from 200 to 999',
      expect.stringMatching(
        /^body\.request\.assertions\[2\]\.property is not a valid JSONPath \(unclosed .*\); correct it$/,
      ),
    ]);
  });

  it.each(['PUT', 'PATCH'] as const)('is refused by %s where it is new', async (method) => {
    const { mine } = service();
    const id = await storedCheck(GOOD);
    const path = `/v1/checks/api/${id}`;
    const { request } = bodyOf(GOOD, BAD);
    const refused = await mine[METHODS[method]](path, { request });
    expect(refused.status).toBe(400);
    expect(problemsIn(refused)).toEqual([
      expect.stringMatching(/^body\.request\.assertions\[1\]\.comparison must be another one/),
    ]);
    expect((await mine.get(path)).json.request.assertions).toHaveLength(1);
  });

  it.each(['PUT', 'PATCH'] as const)(
    'that is stored is read, and %s may keep it beside other changes',
    async (method) => {
      const { mine } = service();
      const id = await storedCheck(BAD, UNPARSED);
      const path = `/v1/checks/api/${id}`;
      const read = await mine.get(path);
      expect(read.json.request.assertions).toEqual([
        { ...STORED, ...BAD },
        { ...STORED, ...UNPARSED },
      ]);
      const renamed = await mine[METHODS[method]](path, { name: 'Renamed' });
      expect(renamed).toMatchObject({ status: 200, json: { name: 'Renamed' } });
      const repeated = await mine[METHODS[method]](path, read.json);
      expect(repeated.status).toBe(200);
      const { request } = bodyOf(GOOD, UNPARSED);
      const moved = await mine[METHODS[method]](path, { request });
      expect(moved.status).toBe(200);
      // It is gone, so that it would be new.
      const back = await mine[METHODS[method]](path, { request: bodyOf(BAD).request });
      expect(back.status).toBe(400);
    },
  );
});
