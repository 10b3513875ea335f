import { beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../../../src/model/enums.ts';
import { databases } from '../../../support/database/databases.ts';
import { asPage, makeUser } from '../../../support/hostile/account-user.ts';
import type { FullAccount } from '../../../support/hostile/full-account.ts';
import { ownIds } from '../../../support/hostile/path-parameters.ts';
import { type Answer, each, type Sent } from '../../../support/hostile/request-sender.ts';
import type { Route } from '../../../support/hostile/route-table.ts';
import { goodRequest } from '../../../support/hostile/valid-requests.ts';
import { type Operation, operationsOf } from '../../../support/openapi/document.ts';
import { useHostileFixture } from '../../../support/service/hostile-fixture.ts';

/** The public operations. Any other operation without a role has forgotten it. */
const PUBLIC = [
  'GET /-/readiness',
  'GET /-/liveness',
  'GET /health',
  'GET /metrics',
  'GET /heartbeat/{token}',
  'POST /heartbeat/{token}',
  'POST /v1/session',
  'POST /v1/invitations/accept',
];

/** Each account has its own by that name, if any. */
const OF_ANY_NAME = ['GET /v1/test-session-error-groups/projects/{projectId}'];

/** A PUT of a check that does not exist, without the fields of a new one. */
const isMissing = (message: string): boolean => /no check has the id in the path/.test(message);

/** Values of required query parameters, by name. */
const QUERIES: Readonly<Record<string, (account: FullAccount) => string | undefined>> = {
  metrics: () => 'availability',
  checkId: ({ checkIds }) => checkIds.url,
  by: () => 'tag',
};

/** Every operation of the document, by keys that may not use it, and by those that may. */
describe.each(databases)('on %s', (kind) => {
  describe('who may do what', () => {
    const fixtureOf = useHostileFixture(kind);
    let made = 0;
    let operations: readonly Operation[] = [];
    let closed: readonly Operation[] = [];
    let forUsers: readonly Operation[] = [];
    let stranger: FullAccount;
    let keysOf: (account: FullAccount) => Promise<Readonly<Record<Role, string>>>;

    beforeAll(async () => {
      const { send, newAttacker } = fixtureOf();
      stranger = await newAttacker();
      const document = await send({ method: 'GET', path: '/openapi.json', key: null });
      operations = operationsOf(document.json);
      closed = operations.filter(({ role }) => role !== null);
      forUsers = operations.filter(({ isForUsers }) => isForUsers);
      keysOf = async ({ apiKey: key }) => {
        const make = async (role: Role) => {
          const headers = { 'content-type': 'application/json' };
          const body = JSON.stringify({ name: role, role });
          const made = await send({ method: 'POST', path: '/v1/api-keys', key, headers, body });
          return [role, String(made.json.key)] as const;
        };
        return Object.fromEntries(await Promise.all(ROLES.map(make))) as Record<Role, string>;
      };
    });

    /** A valid request by `who` about a resource of `whose`. */
    const requestFor = (operation: Operation, who: FullAccount, whose: FullAccount): Sent => {
      const { name, method, path, parameters = [] } = operation;
      const route = fixtureOf().routes.find((one) => isOf(operation, one));
      if (route === undefined) throw new Error(`${name} is in the document alone`);
      const ids = [...ownIds(path, whose)];
      const asked = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ids.shift() ?? ''));
      const query = parameters
        .filter((parameter) => parameter.in === 'query' && parameter.required === true)
        .map((parameter) => {
          const value = QUERIES[parameter.name]?.(whose);
          if (value === undefined) throw new Error(`${name} needs a ${parameter.name}`);
          return `${parameter.name}=${value}`;
        });
      const sent = { ...goodRequest(route, who), path: [asked, ...query].join('?') };
      // A full request would create an own check under the id: hostile.suite.ts.
      const isMaking = method === 'PUT' && path.startsWith('/v1/checks/');
      return who !== whose && isMaking ? { ...sent, body: JSON.stringify({ name: 'A' }) } : sent;
    };

    type Asked = Sent & { readonly name: string };
    type Judge = (answer: Answer, asked: Asked) => unknown;

    /** The unexpected responses, each after its operation. */
    const walk = async (asked: readonly Asked[], isRight: Judge): Promise<readonly string[]> => {
      const { send, judge } = fixtureOf();
      const wrong = await each(asked, async (sent) => {
        const answer = await send(sent);
        const told = isRight(answer, sent) ? [] : [`${answer.status} ${answer.text.slice(0, 200)}`];
        return [...told, ...judge(sent, answer)].map((what) => `${sent.name}: ${what}`);
      });
      return wrong.flat();
    };

    /** An alert is open only until a valid request deactivates its check: what is about it comes first. */
    const inTurn = <Request extends Asked>(asked: readonly Request[]) => {
      const isOfAlert = ({ path }: Request): boolean => path.startsWith('/v1/check-alerts/');
      return [asked.filter(isOfAlert), asked.filter((one) => !isOfAlert(one))];
    };

    it('is declared by every operation except the known public ones', () => {
      const open = operations
        .filter(({ role, isForUsers }) => role === null && !isForUsers)
        .map(({ name }) => name);
      expect(new Set(open)).toEqual(new Set(PUBLIC));
      const roles = closed.filter(({ role }) => !ROLES.some((known) => known === role));
      expect(roles.map(({ name }) => name)).toEqual([]);
      expect(closed.length).toBeGreaterThan(140);
    });

    it('is tested for every path with parameters, each with a resource of the victim', () => {
      const { victim } = fixtureOf();
      const missing = operations.flatMap(({ name, path }) => {
        try {
          ownIds(path, victim);
          return [];
        } catch (error) {
          return [`${name}: ${String(error)}`];
        }
      });
      expect(missing).toEqual([]);
    });

    it('is nothing without a key, and with the key of a location', async () => {
      const fixture = fixtureOf();
      const { victim } = fixture;
      const before = await fixture.victimsRows();
      const asked = closed.flatMap((operation) =>
        [null, victim.agentKey].map((key) => ({
          ...requestFor(operation, victim, victim),
          name: operation.name,
          key,
        })),
      );
      expect(await walk(asked, ({ status }) => status === 401)).toEqual([]);
      expect(await fixture.victimsRows()).toEqual(before);
    });

    it('is limited to the role of the key', async () => {
      const fixture = fixtureOf();
      const { victim } = fixture;
      const keys = await keysOf(victim);
      const before = await fixture.victimsRows();
      const asked = closed.flatMap((operation) =>
        ROLES.slice(0, rankOf(operation)).map((role) => ({
          ...requestFor(operation, victim, victim),
          name: operation.name,
          key: keys[role],
          wanted: { role, needed: operation.role },
        })),
      );
      expect(asked.length).toBeGreaterThan(150);
      const isTold: Judge = ({ status, json }, sent) => {
        const { wanted } = sent as (typeof asked)[number];
        const { role, needed } = json.attributes;
        return status === 403 && role === wanted.role && needed === wanted.needed;
      };
      expect(await walk(asked, isTold)).toEqual([]);
      expect(await fixture.victimsRows()).toEqual(before);
    });

    it('never allows access to resources of another account', async () => {
      const fixture = fixtureOf();
      const { victim } = fixture;
      const keys = await keysOf(stranger);
      const before = await fixture.victimsRows();
      const asked = closed
        .filter(({ path }) => path.includes('{'))
        .map((operation) => ({
          ...requestFor(operation, stranger, victim),
          name: operation.name,
          key: keys.admin,
        }));
      expect(asked.length).toBeGreaterThan(80);
      const isNotThere: Judge = ({ status, json }, { name }) => {
        if (OF_ANY_NAME.includes(name)) return status === 200 && json.length === 0;
        return status === 404 || (status === 400 && isMissing(json.message));
      };
      expect(await walk(asked, isNotThere)).toEqual([]);
      expect(await fixture.victimsRows()).toEqual(before);
    });

    it('allows each operation with its least role, for resources of the own account', async () => {
      const fixture = fixtureOf();
      const owner = await fixture.newAttacker();
      const keys = await keysOf(owner);
      const asked = closed.map((operation) => ({
        ...requestFor(operation, owner, owner),
        name: operation.name,
        key: keys[ROLES[rankOf(operation)] ?? 'read'],
      }));
      const removals = asked.filter(({ method }) => method === 'DELETE');
      const rest = asked.filter(({ method }) => method !== 'DELETE');
      for (const part of inTurn(rest)) {
        expect(await walk(part, ({ status }) => status < 300)).toEqual([]);
      }
      // Some are deleted with others, and some are still named by others. Access was tested above.
      const isLetIn: Judge = ({ status }) => status < 300 || status === 404 || status === 409;
      expect(await walk(removals, isLetIn)).toEqual([]);
    });

    /** A new user of the party's account for each role: the cookies of their sessions. */
    const cookiesOf = async ({ apiKey: key, email }: FullAccount) => {
      const { send } = fixtureOf();
      const make = async (role: Role) => {
        made += 1;
        const user = await makeUser({ send, key, email: `${role}-${made}.${email}`, role });
        return [role, user.cookie] as const;
      };
      return Object.fromEntries(await Promise.all(ROLES.map(make))) as Record<Role, string>;
    };
    /** The same request by the cookie of a session instead of a key. */
    const byCookie = (sent: Sent, cookie: string, page = asPage(cookie)): Sent => {
      const { cookie: _, 'sec-fetch-site': __, ...headers } = { ...sent.headers };
      return { ...sent, key: null, headers: { ...headers, ...page } };
    };

    describe('by the cookie of a session', () => {
      it('is nothing without a session, with one that ended, and with one that never was', async () => {
        const world = fixtureOf();
        const { victim } = world;
        const { read: ended } = await cookiesOf(victim);
        await world.send({
          method: 'DELETE',
          path: '/v1/session',
          key: null,
          headers: asPage(ended),
        });
        const before = await world.victimsRows();
        const cookies = ['a=b', ended, `vedette_session=${'x'.repeat(43)}`, 'vedette_session='];
        const asked = [...closed, ...forUsers].flatMap((operation) =>
          cookies.map((cookie) => ({
            ...byCookie(requestFor(operation, victim, victim), cookie),
            name: operation.name,
          })),
        );
        const isOut: Judge = ({ status }) => status === 401 || status === 429;
        expect(await walk(asked, isOut)).toEqual([]);
        expect(await world.victimsRows()).toEqual(before);
      });

      it('is no change from another site, or from nowhere', async () => {
        const world = fixtureOf();
        const { victim } = world;
        const before = await world.victimsRows();
        const { cookie } = victim;
        const pages: readonly Readonly<Record<string, string>>[] = [
          { cookie },
          { cookie, origin: 'https://evil.example' },
          { cookie, origin: 'null' },
          { cookie, 'sec-fetch-site': 'cross-site' },
        ];
        const asked = [...closed, ...forUsers]
          .filter(({ method }) => method !== 'GET')
          .flatMap((operation) =>
            pages.map((page) => ({
              ...byCookie(requestFor(operation, victim, victim), cookie, page),
              name: operation.name,
            })),
          );
        expect(asked.length).toBeGreaterThan(250);
        expect(await walk(asked, ({ status }) => status === 403)).toEqual([]);
        expect(await world.victimsRows()).toEqual(before);
      });

      it('is limited to the role of the user', async () => {
        const world = fixtureOf();
        const { victim } = world;
        const cookies = await cookiesOf(victim);
        const before = await world.victimsRows();
        const asked = closed.flatMap((operation) =>
          ROLES.slice(0, rankOf(operation)).map((role) => ({
            ...byCookie(requestFor(operation, victim, victim), cookies[role]),
            name: operation.name,
            wanted: { role, needed: operation.role },
          })),
        );
        const isTold: Judge = ({ status, json }, sent) => {
          const { role, needed } = json.attributes;
          const { wanted } = sent as (typeof asked)[number];
          return status === 403 && role === wanted.role && needed === wanted.needed;
        };
        expect(await walk(asked, isTold)).toEqual([]);
        expect(await world.victimsRows()).toEqual(before);
      });

      it('never allows access to resources of another account, even if the request names that account', async () => {
        const world = fixtureOf();
        const { victim } = world;
        const before = await world.victimsRows();
        const asked = [...closed, ...forUsers]
          .filter(({ path }) => path.includes('{'))
          .map((operation) => ({
            ...byCookie(requestFor(operation, stranger, victim), stranger.cookie),
            name: operation.name,
          }));
        const isNotThere: Judge = ({ status, json }, { name }) => {
          if (OF_ANY_NAME.includes(name)) return status === 200 && json.length === 0;
          return status === 404 || (status === 400 && isMissing(json.message));
        };
        expect(await walk(asked, isNotThere)).toEqual([]);
        const named = closed.map((operation) => {
          const sent = byCookie(requestFor(operation, victim, victim), stranger.cookie);
          const headers = { ...sent.headers, 'x-service-account': victim.accountId };
          return { ...sent, headers, name: operation.name };
        });
        expect(await walk(named, ({ status }) => status === 403)).toEqual([]);
        expect(await world.victimsRows()).toEqual(before);
      });

      it('allows each operation with its least role, for resources of the own account', async () => {
        const world = fixtureOf();
        const owner = await world.newAttacker();
        const cookies = await cookiesOf(owner);
        const asked = closed.map((operation) => ({
          ...byCookie(
            requestFor(operation, owner, owner),
            cookies[ROLES[rankOf(operation)] ?? 'read'],
          ),
          name: operation.name,
        }));
        const rest = asked.filter(({ method }) => method !== 'DELETE');
        for (const part of inTurn(rest)) {
          expect(await walk(part, ({ status }) => status < 300)).toEqual([]);
        }
      });

      it('allows operations on oneself for users, and not for keys', async () => {
        const { victim } = fixtureOf();
        expect(forUsers.length).toBeGreaterThan(5);
        const asked = forUsers.map((operation) => {
          const { cookie: _, ...headers } = { ...requestFor(operation, victim, victim).headers };
          const sent = requestFor(operation, victim, victim);
          return { ...sent, headers, key: victim.apiKey, name: operation.name };
        });
        expect(await walk(asked, ({ status }) => status === 403)).toEqual([]);
      });
    });

    it('allows pings to everybody who has the token', async () => {
      const { send, victim } = fixtureOf();
      const ping = async (token: string, key: string | null) =>
        (await send({ method: 'POST', path: `/heartbeat/${token}`, key })).status;
      const { pingToken = '' } = victim.ids;
      expect(await ping(pingToken, null)).toBe(200);
      expect(await ping(pingToken, victim.agentKey)).toBe(200);
      expect(await ping('0'.repeat(40), victim.apiKey)).toBe(404);
    });
  });
});

function rankOf({ role }: Operation): number {
  return ROLES.indexOf(role as Role);
}

function isOf({ method, path }: Operation, route: Route): boolean {
  return route.method === method && route.url.replaceAll(/:(\w+)/g, '{$1}') === path;
}
