import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { createSecretBox, KEY_BYTES, type SecretBox } from '../../../../src/runtime/secret-box.ts';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { createChecks } from '../../../../src/service/checks/checks.ts';
import { createCheckVariables } from '../../../../src/service/checks/variables/check-variables.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { createPrivateLocations } from '../../../../src/service/private-locations/private-locations.ts';
import { createProxyPasswords } from '../../../../src/service/private-locations/proxy-passwords.ts';
import { decryptCredentials } from '../../../../src/service/secrets/credential-sealing.ts';
import {
  type DatabaseKind,
  databases,
  silentLog,
  useMigratedStore,
} from '../../../support/database/databases.ts';
import { useAgentFixture } from '../../../support/service/agent-fixture.ts';
import { sealingReplica, unshared } from '../../../support/service/sealing-replica.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
  TEST_PROXY_PASSWORDS,
} from '../../../support/service/service-features.ts';
import {
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const MASK = '********';
const SECRETS = {
  url: 'url-correct-horse',
  basic: 'basic-correct-horse',
  header: 'header-correct-horse',
  proxy: 'proxy-correct-horse',
};
const REQUEST = {
  method: 'GET',
  url: `https://user:${SECRETS.url}@shop.test/a`,
  headers: [
    { key: 'Authorization', value: `Bearer ${SECRETS.header}`, locked: false },
    { key: 'X-Plain', value: 'plain', locked: false },
  ],
  basicAuth: { username: 'user', password: SECRETS.basic },
};
const SHOWN = {
  ...REQUEST,
  url: `https://user:${MASK}@shop.test/a`,
  headers: [{ ...REQUEST.headers[0], value: MASK }, REQUEST.headers[1]],
  basicAuth: { username: 'user', password: MASK },
};
const BODY = { name: 'Shop', locations: ['eu-west-1'], request: REQUEST };
const PROXY = `http://user:${SECRETS.proxy}@proxy.test:3128`;
const SHOWN_PROXY = `http://user:${MASK}@proxy.test:3128`;

/** The advice for a service without a key. */
const NO_KEY: Readonly<Record<DatabaseKind, string>> = {
  pglite:
    'DATA_DIR/encryption-key is missing: put the file back, or set ENCRYPTION_KEY to the key that encrypted them',
  postgres: 'ENCRYPTION_KEY is not set: set it to the key that encrypted them',
};

/** The credentials of checks and proxies: responses, updates and storage. */
describe.each(databases)('on %s', (kind) => {
  describe('credentials of checks', () => {
    const service = useAccounts(useRunningService(kind));
    const create = async (): Promise<string> =>
      (await service().mine.post('/v1/checks/api', BODY)).json.id;
    /** The check as agents get it. */
    const toldOf = async (id: string): Promise<Record<string, unknown>> => {
      const { store, mine } = service();
      const [row] = await store.query<{ body: Record<string, unknown>; sealed: Buffer | null }>(
        'select body, sealed_variables as sealed from checks where account_id = $1 and id = $2',
        [mine.accountId, id],
      );
      const key = { accountId: mine.accountId, id };
      const told = TEST_CHECK_VARIABLES.open(key, row?.body ?? {}, row?.sealed ?? null);
      return told.request as Record<string, unknown>;
    };

    it('are shown in no response', async () => {
      const { mine } = service();
      const created = await mine.post('/v1/checks/api', BODY);
      expect(created.json.request).toMatchObject(SHOWN);
      const { id } = created.json;
      const at = `/v1/checks/api/${id}`;
      const answers: readonly Reply[] = [
        created,
        await mine.get(at),
        await mine.get(`/v1/checks/${id}`),
        await mine.get('/v1/checks'),
        await mine.get('/v1/checks/api'),
        await mine.put(at, created.json),
        await mine.put(`/v1/checks/${id}`, created.json),
        await mine.patch(at, { name: 'Other' }),
        await mine.patch(at, { request: REQUEST }),
        await mine.post('/v1/checks', { ...BODY, checkType: 'API' }),
        await mine.put(`/v1/checks/api/${randomUUID()}`, BODY),
      ];
      for (const { status, text } of answers) {
        expect(status, text).toBeLessThan(300);
        for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
        expect(text).toContain(MASK);
      }
      expect(await toldOf(id)).toMatchObject(REQUEST);
    });

    it.each([
      ['nothing of the request', { name: 'Other' }, REQUEST],
      ['what was shown', { request: SHOWN }, REQUEST],
      ['variables', { variables: [{ key: 'A', value: 'a', secret: true }] }, REQUEST],
      [
        'another path, user and method',
        {
          request: {
            ...SHOWN,
            method: 'POST',
            url: `https://other:${MASK}@shop.test:443/b`,
            basicAuth: { username: 'other' },
          },
        },
        {
          ...REQUEST,
          method: 'POST',
          url: `https://other:${SECRETS.url}@shop.test:443/b`,
          basicAuth: { username: 'other', password: SECRETS.basic },
        },
      ],
      [
        'a url alone',
        { request: { url: 'https://shop.test/' } },
        {
          url: 'https://shop.test/',
          headers: [REQUEST.headers[0]],
          basicAuth: REQUEST.basicAuth,
        },
      ],
      [
        'null for each',
        {
          request: {
            url: 'https://shop.test/',
            headers: [{ key: 'Authorization', value: null }],
            basicAuth: null,
          },
        },
        { url: 'https://shop.test/', headers: [], basicAuth: null },
      ],
      [
        'new ones for another host',
        {
          request: {
            url: 'https://other.test/',
            headers: [{ key: 'Authorization', value: 'Bearer new' }],
            basicAuth: { username: 'user', password: 'new' },
          },
        },
        {
          url: 'https://other.test/',
          headers: [{ key: 'Authorization', value: 'Bearer new' }],
          basicAuth: { username: 'user', password: 'new' },
        },
      ],
    ])('given %s, an update keeps or changes them', async (_, changes, expected) => {
      const { mine } = service();
      for (const [method, path] of [
        ['put', '/v1/checks/api'],
        ['patch', '/v1/checks'],
      ] as const) {
        const id = await create();
        const changed = await mine[method](`${path}/${id}`, changes);
        expect(changed.status, changed.text).toBe(200);
        expect(await toldOf(id)).toMatchObject(expected);
      }
    });

    it.each([
      ['another host', { ...SHOWN, url: 'https://evil.test/' }, 'basicAuth.password'],
      ['another host and nothing else', { url: 'https://evil.test/' }, 'headers[0].value'],
      ['another scheme', { ...SHOWN, url: 'http://shop.test/a' }, 'basicAuth.password'],
      ['another port', { ...SHOWN, url: `https://user:${MASK}@shop.test:444/a` }, 'url'],
      ['a template for the host', { ...SHOWN, url: 'https://{{H}}/a' }, 'basicAuth.password'],
      [
        'another header',
        { ...SHOWN, headers: [{ key: 'X-Auth-Token', value: MASK }] },
        'headers[0].value',
      ],
      ['a plain header', { ...SHOWN, headers: [{ key: 'X-A', value: MASK }] }, 'headers[0].value'],
    ])('masked ones with %s are refused with 400', async (_, request, problem) => {
      const { mine } = service();
      const id = await create();
      for (const path of ['/v1/checks/api', '/v1/checks']) {
        const refused = await mine.patch(`${path}/${id}`, { request });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(`body.request.${problem} must`);
      }
      expect(await toldOf(id)).toMatchObject(REQUEST);
    });

    it.each([
      [
        'a header',
        { headers: [{ key: 'Authorization', value: `Bearer ${MASK}` }] },
        'headers[0].value',
      ],
      [
        'the middle of a token',
        { headers: [{ key: 'X-API-Key', value: `a${MASK}b` }] },
        'headers[0].value',
      ],
      [
        'a plain header',
        { headers: [{ key: 'X-Plain', value: `Bearer ${MASK}` }] },
        'headers[0].value',
      ],
      [
        'a password',
        { basicAuth: { username: 'user', password: `${MASK}!` } },
        'basicAuth.password',
      ],
      ['a user', { basicAuth: { username: `${MASK}.`, password: 'new' } }, 'basicAuth.username'],
      ['a user alone', { basicAuth: { username: `${MASK}.`, password: '' } }, 'basicAuth.username'],
      ['the password of the url', { url: `https://user:${MASK}x@shop.test/a` }, 'url'],
      [
        'the password of the url, percent-encoded',
        { url: `https://user:${'%2A'.repeat(8)}@shop.test/a` },
        'url',
      ],
      ['the user of the url', { url: `https://${MASK}x@shop.test/a` }, 'url'],
      ['the user beside a password', { url: `https://${MASK}x:new@shop.test/a` }, 'url'],
      ['the path', { url: `https://user:${MASK}@shop.test/${MASK}` }, 'url'],
      ['the query', { url: `https://shop.test/?token=${MASK}` }, 'url'],
      ['the host', { url: `https://${MASK}/` }, 'url'],
      ['a parameter', { queryParameters: [{ key: 'k', value: MASK }] }, 'queryParameters[0].value'],
    ])('are never stored with a mask in %s', async (_, changes, problem) => {
      const { mine } = service();
      const id = await create();
      const request = { ...SHOWN, ...changes };
      const named = `body.request.${problem} must not`;
      for (const [method, path] of [
        ['patch', `/v1/checks/${id}`],
        ['put', `/v1/checks/api/${id}`],
      ] as const) {
        const refused = await mine[method](path, { request });
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused)).toContainEqual(expect.stringContaining(named));
      }
      const fresh = { ...BODY, request: { ...REQUEST, ...changes } };
      for (const refused of [
        await mine.post('/v1/checks/api', fresh),
        await mine.put(`/v1/checks/api/${randomUUID()}`, fresh),
      ]) {
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(`body.request.${problem} must not`);
      }
      expect(await toldOf(id)).toMatchObject(REQUEST);
    });

    it('are never stored with a mask in a secret variable', async () => {
      const { mine } = service();
      const id = await create();
      const masked = { key: 'OWN', value: `Bearer ${MASK}`, secret: true };
      const problem = expect.stringContaining('must not contain ********');
      for (const [refused, field] of [
        [await mine.patch(`/v1/checks/${id}`, { variables: [masked] }), 'variables[0].value'],
        [await mine.post('/v1/checks/api', { ...BODY, variables: [masked] }), 'variables[0].value'],
        [await mine.post('/v1/variables', masked), 'value'],
      ] as const) {
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused)).toEqual([problem]);
        expect(problemsIn(refused)).toEqual([expect.stringContaining(`body.${field} `)]);
      }
      const made = await mine.post('/v1/variables', { ...masked, value: 'whole' });
      expect(made.status, made.text).toBe(201);
      const changed = await mine.patch('/v1/variables/OWN', { value: MASK });
      expect([changed.status, problemsIn(changed)]).toEqual([400, [problem]]);
      expect((await mine.patch('/v1/variables/OWN', { locked: true })).status).toBe(200);
    });

    it('of older releases with a mask beside other text are kept while other fields change', async () => {
      const { mine, store } = service();
      const id = await create();
      await store.query(
        `update checks set body = jsonb_set(body, '{request,headers,1,value}', '"********"')
         where id = $1`,
        [id],
      );
      const renamed = await mine.patch(`/v1/checks/${id}`, { name: 'Other' });
      expect(renamed.status, renamed.text).toBe(200);
    });

    it('are kept only while a variable of the check in its host does not change', async () => {
      const { mine } = service();
      const request = { ...REQUEST, url: 'https://{{HOST}}/a' };
      const variables = [{ key: 'HOST', value: 'shop.test' }];
      const { json } = await mine.post('/v1/checks/api', { ...BODY, request, variables });
      const at = `/v1/checks/api/${json.id}`;
      expect((await mine.put(at, json)).status).toBe(200);
      const moved = { variables: [{ key: 'HOST', value: 'evil.test' }] };
      const refused = await mine.patch(at, moved);
      expect(problemsIn(refused).join('\n')).toContain('body.request.basicAuth.password must be');
      expect((await mine.patch(at, { ...moved, request })).status).toBe(200);
    });

    it.each([
      ['{{{A}}}', 'evil.test/'],
      ['{{{A}}}.x', 'evil.test?'],
      ['{{{A}}}', 'evil.test\\'],
      ['user:{{{A}}}', '@evil.test/'],
      ['user:pw{{{A}}}', '@evil.test/'],
    ])('stay only while no variable before the host, as in %s, is %s', async (userinfo, value) => {
      const { mine } = service();
      const url = `https://${userinfo}@shop.test/`;
      const request = { ...REQUEST, url, basicAuth: null };
      const variables = [{ key: 'A', value: 'monitor' }];
      const moved = { variables: [{ key: 'A', value }] };
      const plain = await create();
      const asShown = { ...SHOWN, url, basicAuth: { username: 'user' } };
      const other = await mine.patch(`/v1/checks/api/${plain}`, { ...moved, request: asShown });
      expect(problemsIn(other).join('\n')).toContain('body.request.headers[0].value must');
      const { json } = await mine.post('/v1/checks/api', { ...BODY, request, variables });
      const at = `/v1/checks/api/${json.id}`;
      for (const given of [moved, { ...moved, request: json.request }, { variables: [] }]) {
        const refused = await mine.patch(at, given);
        expect(refused.status, refused.text).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain('body.request.headers[0].value must');
      }
      expect((await mine.put(at, json)).status).toBe(200);
      expect(await toldOf(json.id)).toMatchObject(request);
    });

    it('masked ones are refused for a new check', async () => {
      const { mine } = service();
      const { locations } = BODY;
      const masked = { name: 'Shop', locations, request: SHOWN };
      for (const refused of [
        await mine.post('/v1/checks/api', masked),
        await mine.post('/v1/checks', { ...masked, checkType: 'API' }),
        await mine.put('/v1/checks/api/new', masked),
      ]) {
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)).toHaveLength(3);
        expect(refused.text).toContain('none is stored here');
      }
      expect((await mine.get('/v1/checks')).json).toEqual([]);
    });

    it('are user names without a password, too', async () => {
      const { mine } = service();
      const request = {
        ...REQUEST,
        url: 'https://url-correct-horse@shop.test/a',
        basicAuth: { username: 'basic-correct-horse', password: '' },
      };
      const created = await mine.post('/v1/checks/api', { ...BODY, request });
      const { id } = created.json;
      const at = `/v1/checks/api/${id}`;
      for (const { status, text } of [
        created,
        await mine.get(at),
        await mine.put(at, created.json),
        await mine.patch(at, { name: 'Other' }),
        await mine.patch(at, { request: { ...created.json.request, basicAuth: {} } }),
      ]) {
        expect(status, text).toBeLessThan(300);
        expect(text).not.toContain('correct-horse');
        expect(text).toContain(`"https://${MASK}@shop.test/a"`);
      }
      expect(await toldOf(id)).toMatchObject(request);
      const url = `https://${MASK}:new@shop.test/a`;
      const basicAuth = { username: MASK, password: 'new' };
      for (const changes of [{ url }, { basicAuth }]) {
        const shown = { ...created.json.request, ...changes };
        const refused = await mine.patch(at, { request: shown });
        expect(problemsIn(refused).join()).toContain('beside a password');
      }
      const elsewhere = { ...created.json.request, url: `https://${MASK}@evil.test/a` };
      const refused = await mine.patch(at, { request: elsewhere });
      expect(problemsIn(refused)).toHaveLength(3);
      expect(await toldOf(id)).toMatchObject(request);
    });

    it('name the changed Host header', async () => {
      const { mine } = service();
      const id = await create();
      const headers = [...SHOWN.headers, { key: 'Host', value: 'evil.test' }];
      const refused = await mine.patch(`/v1/checks/${id}`, { request: { ...SHOWN, headers } });
      expect(refused.status).toBe(400);
      for (const problem of problemsIn(refused)) {
        expect(problem).toContain('must be sent again because the Host header changed: ');
      }
    });

    it('that are templates are shown, and are kept for any host', async () => {
      const { mine } = service();
      const request = {
        ...REQUEST,
        url: 'https://{{USER}}:{{PASSWORD}}@shop.test/',
        headers: [{ key: 'Authorization', value: 'Bearer {{TOKEN}}', locked: false }],
        basicAuth: { username: 'user', password: '{{PASSWORD}}' },
      };
      const { json } = await mine.post('/v1/checks/api', { ...BODY, request });
      expect(json.request).toMatchObject(request);
      const moved = { ...request, url: 'https://other.test/' };
      const changed = await mine.patch(`/v1/checks/api/${json.id}`, { request: moved });
      expect(changed.json.request).toMatchObject(moved);
    });
  });

  describe('the proxy of a location', () => {
    const service = useAccounts(useRunningService(kind));
    const PATH = '/v1/private-locations';
    const create = async (proxyUrl: string | null) =>
      service().mine.post(PATH, { slug: 'cellar', name: 'Cellar', proxyUrl });
    const told = async (id: string): Promise<string | null> => {
      const { store, mine } = service();
      const [row] = await store.query<{ url: string | null; sealed: Buffer | null }>(
        'select proxy_url as url, sealed_proxy_password as sealed from private_locations where id = $1',
        [id],
      );
      const stored = { proxyUrl: row?.url ?? null, sealedProxyPassword: row?.sealed ?? null };
      return TEST_PROXY_PASSWORDS.open({ accountId: mine.accountId, id }, stored);
    };

    it('is shown without its password, which is kept', async () => {
      const { mine } = service();
      const created = await create(PROXY);
      const { id } = created.json;
      const at = `${PATH}/${id}`;
      for (const { status, text } of [
        created,
        await mine.get(at),
        await mine.get(PATH),
        await mine.patch(at, { name: 'Other' }),
        await mine.put(at, created.json),
        await mine.patch(at, { proxyUrl: SHOWN_PROXY }),
      ]) {
        expect(status, text).toBeLessThan(300);
        expect(text).toContain(SHOWN_PROXY);
        expect(text).not.toContain(SECRETS.proxy);
      }
      expect(await told(id)).toBe(PROXY);
      expect((await mine.patch(at, { proxyUrl: null })).json.proxyUrl).toBeNull();
      expect(await told(id)).toBeNull();
    });

    it.each([
      [`http://user:${MASK}@evil.test:3128`, PROXY, 'again'],
      [`https://user:${MASK}@proxy.test:3128`, PROXY, 'again'],
      [SHOWN_PROXY, null, 'none is stored'],
      [SHOWN_PROXY, 'http://proxy.test:3128', 'none is stored'],
      [`http://user:${MASK}x@proxy.test:3128`, PROXY, 'beside other text'],
      [`http://user:${'%2a'.repeat(8)}@proxy.test:3128`, PROXY, 'beside other text'],
      [`http://x${MASK}@proxy.test:3128`, PROXY, 'beside other text'],
      [`http://${MASK}x:new@proxy.test:3128`, PROXY, 'beside a password'],
      [`http://user:new@${MASK}.test:3128`, PROXY, 'must not contain'],
    ])('%s after %s is refused', async (proxyUrl, before, problem) => {
      const { id } = (await create(before)).json;
      const refused = await service().mine.patch(`${PATH}/${id}`, { proxyUrl });
      expect(problemsIn(refused).join()).toMatch(new RegExp(`^body.proxyUrl .*${problem}`));
      expect(await told(id)).toBe(before);
    });

    it('is shown without a user that has no password, which is kept and encrypted', async () => {
      const { mine, store } = service();
      const created = await create(`http://${SECRETS.proxy}@proxy.test:3128`);
      const { id } = created.json;
      const shown = `http://${MASK}@proxy.test:3128`;
      const changed = await mine.patch(`${PATH}/${id}`, { proxyUrl: shown });
      for (const { text } of [created, changed]) {
        expect(text).toContain(shown);
        expect(text).not.toContain(SECRETS.proxy);
      }
      const stored = await store.query('select proxy_url from private_locations where id = $1', [
        id,
      ]);
      expect(stored).toEqual([{ proxyUrl: shown }]);
      expect(await told(id)).toBe(`http://${SECRETS.proxy}@proxy.test:3128`);
    });

    it('that is masked is refused for a new location', async () => {
      const refused = await create(SHOWN_PROXY);
      expect(problemsIn(refused).join()).toContain('body.proxyUrl');
    });
  });

  describe('credentials at rest', () => {
    const store = useMigratedStore(kind);
    const box = (...keys: readonly [Buffer, ...Buffer[]]) => createSecretBox(keys);
    const [OLD, NEW] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
    let accountId = '';

    /** A check and a location, as a service with this key stores them. */
    const stored = async (secrets: SecretBox | null) => {
      accountId = randomUUID();
      const parts = { store: store(), clock: systemClock, log: silentLog(), secrets };
      await insertAccount(store(), { id: accountId, name: 'mine', createdAtMs: 0 });
      const checkVariables = createCheckVariables(parts);
      const proxyPasswords = createProxyPasswords(parts);
      const checks = createChecks({
        ...parts,
        outdatedStates: NONE_OUTDATED,
        ids: () => 'shop',
        checkVariables,
      });
      const locations = createPrivateLocations({ ...parts, ids: randomUUID, proxyPasswords });
      const input = { ...BODY, checkType: 'API' };
      await checks.create(accountId, input, { autoAssignAlerts: false });
      const place = { slug: 'cellar', name: 'c', proxyUrl: PROXY };
      const { id } = await locations.create(accountId, place);
      return { checks, locations, locationId: id };
    };
    const sealing = (secrets: SecretBox | null, on: Store = unshared(store())) =>
      sealingReplica(on, secrets);
    /** A store that also counts calls, and fails if `onQuery` throws. */
    const watched = (onQuery: (text: string) => void = () => {}) => {
      const counts = { queries: 0, transactions: 0 };
      const inner = unshared(store());
      const on: Store = {
        ...inner,
        async query(text, params) {
          counts.queries += 1;
          onQuery(text);
          return inner.query(text, params);
        },
        async transaction(work, options) {
          counts.transactions += 1;
          return inner.transaction(work, options);
        },
      };
      return { on, counts };
    };
    /** Whether the statement lists a batch of the rewrite. */
    const isListOf = (table: string, text: string): boolean =>
      text.includes(`from ${table}\n`) && text.includes('order by');
    const rows = async () => {
      const [check] = await store().query<{ body: object; sealed: Buffer | null; text: string }>(
        `select body, sealed_variables as sealed, checks::text as text from checks where account_id = $1`,
        [accountId],
      );
      const [location] = await store().query<{ text: string }>(
        'select private_locations::text as text from private_locations where account_id = $1',
        [accountId],
      );
      return { check, text: `${check?.text} ${location?.text}` };
    };
    const isClear = async (): Promise<readonly string[]> => {
      const { text } = await rows();
      return Object.entries(SECRETS).flatMap(([name, secret]) =>
        text.includes(secret) ? [name] : [],
      );
    };
    /** The checks that agents of a service with this key would get. */
    const told = async (secrets: SecretBox | null, locationId: string) => {
      const parts = { log: silentLog(), secrets };
      const { check } = await rows();
      const key = { accountId, id: 'shop' };
      const body = (check?.body ?? {}) as Record<string, unknown>;
      const [row] = await store().query<{ url: string; sealed: Buffer | null }>(
        'select proxy_url as url, sealed_proxy_password as sealed from private_locations where id = $1',
        [locationId],
      );
      const proxy = { proxyUrl: row?.url ?? null, sealedProxyPassword: row?.sealed ?? null };
      return {
        request: createCheckVariables(parts).open(key, body, check?.sealed ?? null).request,
        proxyUrl: createProxyPasswords(parts).open({ accountId, id: locationId }, proxy),
      };
    };
    const ALL = { request: expect.objectContaining(REQUEST), proxyUrl: PROXY };

    it('are encrypted if there is a key', async () => {
      const { locationId } = await stored(box(OLD));
      expect(await isClear()).toEqual([]);
      expect(await told(box(OLD), locationId)).toEqual(ALL);
    });

    it('are stored unencrypted without a key, shown in no response, and the start warns', async () => {
      const { checks, locations, locationId } = await stored(null);
      expect(await isClear()).toHaveLength(4);
      await checks.update({ accountId, id: 'shop' }, { request: SHOWN });
      await locations.update({ accountId, id: locationId }, { proxyUrl: SHOWN_PROXY });
      expect(await told(null, locationId)).toEqual(ALL);
      const service = sealing(null);
      await service.start();
      expect(service.isOn()).toBe(false);
      expect(service.logs.records()).toMatchObject([
        { level: 'warn', msg: expect.stringContaining('ENCRYPTION_KEY is not set') },
      ]);
      expect(await isClear()).toHaveLength(4);
    });

    it('of older releases are encrypted once when a service with a key first starts', async () => {
      const { locationId } = await stored(null);
      const [before] = await store().query('select updated_at from checks');
      const [one, other] = [sealing(box(OLD)), sealing(box(OLD))];
      // Two replicas at once.
      await Promise.all([one.start(), other.start()]);
      expect(one.isOn()).toBe(true);
      expect(await isClear()).toEqual([]);
      expect(await told(box(OLD), locationId)).toEqual(ALL);
      expect(await store().query('select updated_at from checks')).toEqual([before]);
      const changed = [one, other].flatMap(({ logs }) =>
        logs.records().map((line) => Number(line.changed)),
      );
      expect(changed.reduce((sum, count) => sum + count, 0)).toBe(2);
      const { text } = await rows();
      const again = sealing(box(OLD));
      await again.start();
      expect(again.logs.records()).toEqual([]);
      expect((await rows()).text).toBe(text);
    });

    it('are encrypted with the newest key at the next start, together with the secret variables', async () => {
      const { checks, locationId } = await stored(box(OLD));
      const variables = [{ key: 'OWN', value: 'own-secret', secret: true }];
      await checks.update({ accountId, id: 'shop' }, { variables });
      await sealing(box(NEW, OLD)).start();
      expect(await told(box(NEW), locationId)).toEqual(ALL);
      const { check } = await rows();
      const values = createCheckVariables({ log: silentLog(), secrets: box(NEW) }).secretValues(
        { accountId, id: 'shop' },
        check?.sealed ?? Buffer.alloc(0),
      );
      expect(values).toContain('own-secret');
    });

    it('that no key decrypts are kept, are sent to no agent, and can be replaced', async () => {
      const { locationId } = await stored(box(OLD));
      const { text } = await rows();
      const service = sealing(box(NEW));
      await service.start();
      expect(service.logs.records()).toMatchObject([
        {
          level: 'error',
          checks: 1,
          locations: 1,
          msg: expect.stringMatching(
            /^credentials and secret values of 1 check, 1 proxy cannot be decrypted because none of the keys decrypts them: put the key that encrypted them after the other keys in ENCRYPTION_KEY/,
          ),
        },
      ]);
      expect((await rows()).text).toBe(text);
      const { request, proxyUrl } = await told(box(NEW), locationId);
      expect(request).toMatchObject({ basicAuth: { password: '{{CREDENTIAL_NOT_READABLE}}' } });
      expect(JSON.stringify(request)).not.toContain(MASK);
      expect(proxyUrl).toBe(SHOWN_PROXY);
      const parts = { store: store(), clock: systemClock, log: silentLog(), secrets: box(NEW) };
      const checkVariables = createCheckVariables(parts);
      const checks = createChecks({
        ...parts,
        outdatedStates: NONE_OUTDATED,
        ids: randomUUID,
        checkVariables,
      });
      // An update of another field keeps it.
      await checks.update({ accountId, id: 'shop' }, { name: 'Other', request: SHOWN });
      expect(await told(box(OLD), locationId)).toEqual(ALL);
      const some = { ...SHOWN, basicAuth: { username: 'user', password: 'new' } };
      await expect(
        checks.update({ accountId, id: 'shop' }, { request: some }),
      ).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('ENCRYPTION_KEY'),
        attributes: {
          code: 'CREDENTIAL_NOT_READABLE',
          fields: ['body.request.url', 'body.request.headers[0].value'],
        },
      });
      await checks.update({ accountId, id: 'shop' }, { request: REQUEST });
      expect((await told(box(NEW), locationId)).request).toMatchObject(REQUEST);
    });

    it('that need a key are counted by the start of a service without one', async () => {
      await stored(box(OLD));
      await store().query(
        `insert into variables (account_id, key, sealed_value, bytes, locked, secret)
         select id, own, $2::bytea, 1, false, true from accounts, unnest('{A,B}'::text[]) own
         where id = $1`,
        [accountId, box(OLD).seal('its-secret', [])],
      );
      const service = sealing(null, store());
      await service.start();
      expect(service.logs.records()).toMatchObject([
        { level: 'warn', msg: expect.stringContaining('are stored unencrypted') },
        {
          level: 'error',
          checks: 1,
          locations: 1,
          variables: 2,
          names: [
            `check shop of account ${accountId}`,
            `private location cellar of account ${accountId}`,
            `variable A of account ${accountId}`,
            `variable B of account ${accountId}`,
          ],
          msg: `credentials and secret values of 1 check, 1 proxy, 2 variables cannot be decrypted because ${NO_KEY[kind]} and restart the service; or send them again`,
        },
      ]);
      const withKey = sealing(box(OLD));
      await withKey.start();
      expect(withKey.logs.records()).toEqual([]);
    });

    it('that only an older key decrypts are named by the start until their owners write them again', async () => {
      await stored(box(OLD));
      const write = async (secrets: SecretBox): Promise<void> => {
        const sealed = secrets.seal('its-secret', []);
        await store().query(
          `insert into variables (account_id, key, sealed_value, bytes, locked, secret)
           select $1, own, $2::bytea, 1, false, true from unnest('{A,B}'::text[]) own
           on conflict (account_id, key) do update set sealed_value = excluded.sealed_value`,
          [accountId, sealed],
        );
        await store().query(
          `insert into client_certificates (id, account_id, host, cert, sealed_key)
           values ('one', $1, 'shop.test', 'PEM', $2::bytea)
           on conflict (id) do update set sealed_key = excluded.sealed_key`,
          [accountId, sealed],
        );
      };
      await write(box(OLD));
      const service = sealing(box(NEW, OLD));
      await service.begin();
      // Without the check and the proxy, which the service encrypts again by itself.
      expect(service.logs.records()).toMatchObject([
        {
          level: 'warn',
          variables: 2,
          certificates: 1,
          names: [
            `client certificate shop.test of account ${accountId}`,
            `variable A of account ${accountId}`,
            `variable B of account ${accountId}`,
          ],
          msg: 'secret values of 2 variables, 1 client certificate are not encrypted with the first key of ENCRYPTION_KEY: write them again before you remove the key that encrypted them',
        },
      ]);
      await write(box(NEW, OLD));
      const next = sealing(box(NEW, OLD));
      await next.begin();
      expect(next.logs.records()).toEqual([]);
    });

    it('that are damaged are logged by the rewrite, since the start compares only the names of keys', async () => {
      await stored(box(OLD));
      await store().query(
        'update checks set sealed_variables = substring(sealed_variables from 1 for 40)',
      );
      const service = sealing(box(NEW, OLD));
      await service.start();
      expect(service.logs.records()).toMatchObject([
        { level: 'info', changed: 1 },
        { level: 'error', unreadable: 1, msg: expect.stringContaining('or send them again') },
      ]);
    });

    it('are encrypted after the port is open: before that only new ones are', async () => {
      await stored(null);
      const service = sealing(box(OLD));
      await service.begin();
      expect(service.isOn()).toBe(true);
      expect(await isClear()).toHaveLength(4);
      await service.keep(0);
      expect(await isClear()).toEqual([]);
    });

    it('are not locked by a second start, which has nothing to change', async () => {
      const { checks } = await stored(null);
      const variables = [{ key: 'OWN', value: 'own-secret', secret: true }];
      await sealing(box(OLD)).start();
      const withVariables = createChecks({
        store: store(),
        clock: systemClock,
        outdatedStates: NONE_OUTDATED,
        ids: () => 'other',
        checkVariables: createCheckVariables({ log: silentLog(), secrets: box(OLD) }),
      });
      const input = { ...BODY, checkType: 'API', variables };
      await withVariables.create(accountId, input, { autoAssignAlerts: false });
      await checks.update({ accountId, id: 'shop' }, { name: 'Other' });
      const { on, counts } = watched();
      await sealing(box(OLD), on).start();
      // Two lists for each rewrite, and one count before.
      expect(counts).toEqual({ queries: 5, transactions: 0 });
      const next = watched();
      await sealing(box(NEW, OLD), next.on).start();
      expect(next.counts).toEqual({ queries: 5, transactions: 3 });
    });

    it('that were stored unencrypted after the first rewrite passed are encrypted by the second', async () => {
      await stored(box(OLD));
      let lists = 0;
      const { on } = watched((text) => {
        if (isListOf('private_locations', text)) lists += 1;
      });
      const late = sealing(box(OLD), {
        ...on,
        async query(text, params) {
          // A change by an earlier request, which commits after the first rewrite passed.
          if (lists === 1 && isListOf('checks', text)) {
            lists += 1;
            const checks = createChecks({
              store: store(),
              clock: systemClock,
              outdatedStates: NONE_OUTDATED,
              ids: () => 'a-late-one',
              checkVariables: createCheckVariables({ log: silentLog(), secrets: null }),
            });
            const input = { ...BODY, checkType: 'API' };
            await checks.create(accountId, input, { autoAssignAlerts: false });
          }
          return on.query(text, params);
        },
      });
      await late.start();
      expect(late.logs.records()).toMatchObject([{ changed: 1 }]);
      const all = await store().query('select checks::text as text from checks');
      expect(JSON.stringify(all)).not.toContain('correct-horse');
    });

    it('are encrypted by another rewrite after one that failed', async () => {
      await stored(null);
      const failures = [new Error('the database is away')];
      const { on } = watched((text) => {
        const failure = isListOf('checks', text) ? failures.pop() : undefined;
        if (failure !== undefined) throw failure;
      });
      const service = sealing(box(OLD), on);
      await service.begin();
      await service.keep(0);
      expect(service.isOn()).toBe(true);
      expect(service.logs.records()).toMatchObject([
        { level: 'warn', msg: expect.stringContaining('the database is away') },
      ]);
      await service.keep(1);
      expect(await isClear()).toEqual([]);
    });

    it('are encrypted at the next start if the service stops in between', async () => {
      await stored(null);
      const ending = new AbortController();
      const { on, counts } = watched();
      const service = sealing(box(OLD), {
        ...on,
        transaction(work, options) {
          ending.abort();
          return on.transaction(work, options);
        },
      });
      await service.begin();
      await service.keep(1, ending);
      expect(counts.transactions).toBe(1);
      expect(await isClear()).toEqual(['proxy']);
    });

    it('are stored unencrypted again for a return to the previous release', async () => {
      const { checks, locationId } = await stored(box(OLD));
      const variables = [{ key: 'OWN', value: 'own-secret', secret: true }];
      await checks.update({ accountId, id: 'shop' }, { variables });
      const parts = { store: unshared(store()), log: silentLog(), secrets: box(OLD) };
      expect(await decryptCredentials(parts)).toBe(2);
      expect(await isClear()).toHaveLength(4);
      expect((await rows()).check?.body).toMatchObject({ request: REQUEST });
      expect((await rows()).text).not.toContain('own-secret');
      expect(await told(box(OLD), locationId)).toEqual(ALL);
      expect(await decryptCredentials(parts)).toBe(0);
      const lost = { ...parts, secrets: box(NEW) };
      await expect(decryptCredentials(lost)).rejects.toMatchObject({
        kind: 'environment',
        code: 'SECRET_UNREADABLE',
        message: expect.stringMatching(
          /^credentials of 1 check or location cannot be decrypted because none of the keys decrypts them: [^\n]* and run vedette service decrypt again$/,
        ),
      });
      await expect(decryptCredentials({ ...parts, secrets: null })).rejects.toMatchObject({
        message: `credentials of 1 check or location cannot be decrypted because ${NO_KEY.pglite} and run vedette service decrypt again`,
      });
    });
  });

  describe('credentials, as agents get them', () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store);

    it('are the original ones in assignments, in unscheduled runs and in the proxy', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('shop', { checkType: 'API', request: REQUEST });
      await fixture.locations.update(
        { accountId: fixture.accountId, id: fixture.cellar.id },
        { proxyUrl: PROXY },
      );
      const agent = fixture.agent('agent-a', { capabilities: { types: ['API'], icmp: false } });
      await agent.look();
      await fixture.assigner.pass();
      await agent.look();
      expect(agent.checks.get('shop')?.check.request).toMatchObject(REQUEST);
      await fixture.checkRuns.request(fixture.accountId, 'shop', { location: null });
      const { runs, location } = await agent.look();
      expect(runs.map(({ check }) => check.request)).toMatchObject([REQUEST]);
      expect(location.proxyUrl).toBe(PROXY);
    });

    it('are sent again when only a credential changed, and not when none did', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('shop', { checkType: 'API', request: REQUEST });
      const agent = fixture.agent('agent-a');
      await agent.look();
      await fixture.assigner.pass();
      await agent.look();
      await fixture.checks.update(
        { accountId: fixture.accountId, id: 'shop' },
        { request: REQUEST },
      );
      await fixture.checks.update({ accountId: fixture.accountId, id: 'shop' }, { request: SHOWN });
      await fixture.assigner.pass();
      expect(await agent.look()).toMatchObject({ full: false, upsert: [] });
      const basicAuth = { username: 'user', password: 'another' };
      await fixture.checks.update(
        { accountId: fixture.accountId, id: 'shop' },
        { request: { ...SHOWN, basicAuth } },
      );
      await fixture.assigner.pass();
      expect((await agent.look()).upsert).toHaveLength(1);
      expect(agent.checks.get('shop')?.check.request).toMatchObject({ ...REQUEST, basicAuth });
    });
  });
});
