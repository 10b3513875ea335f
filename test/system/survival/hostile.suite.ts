import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storableText } from '../../../src/runtime/text/storable-text.ts';
import type { DatabaseKind } from '../../support/database/databases.ts';
import { pollOf } from '../../support/hostile/account-agent.ts';
import { type Contents, contentsOf } from '../../support/hostile/database-contents.ts';
import type { FullAccount } from '../../support/hostile/full-account.ts';
import {
  ARTIFACT_NAMES,
  BAD_BODIES,
  NUMBERS,
  RAW_PARTS,
  REFERENCE,
  TEXTS,
  WRONG_KEYS,
} from '../../support/hostile/hostile-values.ts';
import { type Answer, each, type Sent } from '../../support/hostile/request-sender.ts';
import { pathOf, type Route } from '../../support/hostile/route-table.ts';
import { exampleOf, withLeaf } from '../../support/hostile/schema-example.ts';
import { bodyOf, goodRequest, leaves, ownPath } from '../../support/hostile/valid-requests.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { type HostileFixture, useHostileFixture } from '../../support/service/hostile-fixture.ts';

const GARBAGE_BATCHES = IS_NIGHTLY ? 200 : 20;

/** All values in nightly runs, otherwise a third of them, different ones for each field or route. */
function sampler(): <Value>(values: readonly Value[]) => readonly Value[] {
  let field = 0;
  return (values) => {
    field += 1;
    return IS_NIGHTLY ? values : values.filter((_, index) => (index + field) % 3 === 0);
  };
}

/**
 * Any input on every route gets the right 4xx, reveals nothing of another account and writes
 * nothing.
 */
export function hostileSuite(kind: DatabaseKind): void {
  describe(`hostile input on ${kind}`, () => {
    const fixtureOf = useHostileFixture(kind);
    let before: Contents = {};
    beforeEach(async () => {
      before = await fixtureOf().victimsRows();
    });
    afterEach(async () => {
      const fixture = fixtureOf();
      expect(await fixture.victimsRows()).toEqual(before);
      expect(await fixture.strayRows()).toEqual([]);
      expect(fixture.errors()).toEqual([]);
    });

    it('the hostile walk knows all routes, and the victim has rows in every table', async () => {
      const { routes, store } = fixtureOf();
      expect(routes.length).toBeGreaterThan(150);
      const tables = Object.keys(await contentsOf(store, null));
      const empty = tables.filter((table) => !(table in before));
      expect(empty).toEqual([]);
      expect(Object.keys(before).length).toBeGreaterThan(40);
    });

    it('a request without a key of the right kind is refused', async () => {
      const fixture = fixtureOf();
      const { routes, victim, store } = fixture;
      const rows = await contentsOf(store, null);
      const asked = closed(routes).flatMap((route) => {
        const other = route.access.kind === 'agent' ? victim.apiKey : victim.agentKey;
        const { cookie: _, ...headers } = goodRequest(route, victim).headers ?? {};
        return [...WRONG_KEYS, other, victim.revokedKey].map((key) => ({
          ...goodRequest(route, victim),
          headers,
          key,
        }));
      });
      expect(await faults(fixture, asked, ({ status }) => status === 401)).toEqual([]);
      expect(await contentsOf(store, null)).toEqual(rows);
    });

    it('a key can do no more than its role allows, and nothing in another account', async () => {
      const fixture = fixtureOf();
      const { routes, victim, store } = fixture;
      const attacker = await fixture.newAttacker();
      await fixture.settled();
      const rows = await contentsOf(store, null);
      const asked = closed(routes).flatMap((route) => {
        const good = goodRequest(route, attacker);
        const account = { 'x-service-account': victim.accountId };
        const asOther = { ...good, headers: { ...good.headers, ...account } };
        const isForMore = route.access.kind === 'role' && route.access.role !== 'read';
        return [asOther, ...(isForMore ? [{ ...good, key: attacker.readKey }] : [])];
      });
      expect(await faults(fixture, asked, ({ status }) => status === 403)).toEqual([]);
      expect(await contentsOf(store, null)).toEqual(rows);
    });

    it('ids of another account are not found', async () => {
      const fixture = fixtureOf();
      const { routes } = fixture;
      const attacker = await fixture.newAttacker();
      const some = sampler();
      const asked = closed(routes)
        .filter(({ params, method }) => params.length > 0 && method !== 'PUT')
        .flatMap((route) =>
          foreignIds(fixture, route, attacker, some).map((ids) => ({
            ...goodRequest(route, attacker),
            path: pathOf(route, ids),
          })),
        );
      const isNotThere = ({ status, json }: Answer, { path }: Sent): boolean =>
        path.endsWith('/complete') && status === 200
          ? json.complete === false
          : // Any project may be asked for: each account has its own by that name.
            path.includes('/projects/') || status === 404 || status === 400;
      expect(await faults(fixture, asked, isNotThere)).toEqual([]);
    });

    it('PUT under an id of another account creates a resource of its own account', async () => {
      const fixture = fixtureOf();
      const { routes } = fixture;
      const attacker = await fixture.newAttacker();
      const some = sampler();
      const wrong: string[] = [];
      const made: string[] = [];
      for (const route of closed(routes)) {
        if (route.method !== 'PUT' || route.params.length === 0) continue;
        for (const ids of foreignIds(fixture, route, attacker, some)) {
          const sent = { ...goodRequest(route, attacker), path: pathOf(route, ids) };
          const answer = await fixture.send(sent);
          wrong.push(...fixture.judge(sent, answer));
          if (answer.status >= 300) continue;
          made.push(sent.path);
          const gone = { ...sent, method: 'DELETE', body: undefined };
          expect((await fixture.send(gone)).status).toBe(204);
        }
      }
      expect(wrong).toEqual([]);
      expect(made.length).toBeGreaterThan(0);
    });

    it('hostile texts in paths and queries are answered and list nothing of another account', async () => {
      const fixture = fixtureOf();
      const { routes, victimIds } = fixture;
      const attacker = await fixture.newAttacker();
      const inPaths = heard(routes).flatMap((route) =>
        route.params.length === 0
          ? []
          : [...TEXTS.map(encoded), ...RAW_PARTS].map((part) => ({
              ...goodRequest(route, attacker),
              path: route.url.replaceAll(/:\w+/g, part),
            })),
      );
      const some = sampler();
      const inQueries = heard(routes).flatMap((route) => {
        const known = route.query === null ? [] : Object.keys(exampleOf(route.query) as object);
        return [...known, '__proto__', "';--"].flatMap((name) => {
          const ids = REFERENCE.test(name) ? victimIds : [];
          const hostile = some([...TEXTS, ...NUMBERS.map(String)]);
          const values = known.includes(name) ? [...hostile, ...ids] : ['a'];
          return values.map((value) => ({
            ...goodRequest(route, attacker),
            path: `${ownPath(route, attacker)}?${encoded(name)}=${encoded(value)}`,
          }));
        });
      });
      const readOnly = inQueries.filter(({ method }) => method !== 'DELETE');
      expect(await faults(fixture, [...inPaths, ...readOnly], isRight)).toEqual([]);
    });

    it.each(['role', 'agent'] as const)(
      'hostile texts, numbers and foreign ids in bodies of the %s routes have no effect on the victim',
      async (access) => {
        const fixture = fixtureOf();
        const { routes, victim } = fixture;
        const attacker = await fixture.newAttacker();
        const victimIds = idsIn(victim);
        const some = sampler();
        const bodies = routes.filter((each) => each.access.kind === access && each.body !== null);
        const asked = eachHandler(bodies).flatMap((route) => {
          const base = bodyOf(route, attacker);
          const victims = new Map(
            leaves(route, bodyOf(route, victim)).map((leaf) => [leaf.path.join('\n'), leaf.value]),
          );
          return leaves(route, base).flatMap(({ path, example, value }) => {
            const isNamed = path.some((step) => REFERENCE.test(String(step)));
            // The one that the victim would name there, and some of the others.
            const right = String(victims.get(path.join('\n')));
            const chosen = new Set(isNamed ? [...some(victimIds), right] : []);
            const ids = victimIds.filter((id) => chosen.has(id));
            const values =
              typeof value === 'number'
                ? [...some(NUMBERS), ...ids.filter(isNumber).map(Number)]
                : [...some(TEXTS), ...ids];
            return values.map((leaf) => ({
              ...goodRequest(route, attacker),
              // New each time, so that none is refused as a duplicate.
              body: JSON.stringify(withLeaf(bodyOf(route, attacker), example, path, leaf)),
            }));
          });
        });
        // Proves nothing unless the valid ones are accepted.
        const good = bodies.map((route) => goodRequest(route, attacker));
        expect(await faults(fixture, good, ({ status }) => status < 300)).toEqual([]);
        expect(asked.length).toBeGreaterThan(200);
        expect(await faults(fixture, asked, isRight)).toEqual([]);
      },
    );

    it('a body that is not JSON, too deep, too large or of another type is refused', async () => {
      const fixture = fixtureOf();
      const attacker = await fixture.newAttacker();
      await fixture.settled();
      const rows = await contentsOf(fixture.store, null);
      const asked = closed(fixture.routes)
        .filter(({ takesJson }) => takesJson)
        .flatMap((route) => {
          const good = goodRequest(route, attacker);
          const json = { ...good.headers, 'content-type': 'application/json' };
          return BAD_BODIES.filter(({ gzip }) => gzip !== true || route.takesGzip).map(
            ({ status, body, headers = {} }) => ({
              ...good,
              headers: { ...json, ...headers },
              body,
              wanted: status,
            }),
          );
        });
      const wrong = await each(asked, async ({ wanted, ...sent }) => {
        const answer = await fixture.send(sent);
        const shown = { ...sent, body: String(sent.body).slice(0, 40) };
        const isAs =
          answer.status === wanted
            ? []
            : [`${shown.path} ${shown.body}: ${answer.status}, not ${wanted}`];
        return [...isAs, ...fixture.judge(shown, answer)];
      });
      expect(wrong.flat()).toEqual([]);
      expect(await contentsOf(fixture.store, null)).toEqual(rows);
    });

    it('artifacts stay inside their folder, whatever their names', async () => {
      const fixture = fixtureOf();
      const attacker = await fixture.newAttacker();
      await fixture.settled();
      const rows = await contentsOf(fixture.store, null);
      const files = fixture.files();
      const route = fixture.routes.find(
        ({ url, method }) => url === '/agent/v1/artifacts' && method === 'POST',
      );
      if (route === undefined) throw new Error('there is no route for artifacts');
      const base = bodyOf(route, attacker);
      const asked = ARTIFACT_NAMES.map((name) => ({
        ...goodRequest(route, attacker),
        body: JSON.stringify({ ...(base as object), name }),
      }));
      expect(await faults(fixture, asked, ({ status }) => status === 400)).toEqual([]);
      expect(fixture.files()).toEqual(files);
      expect(await contentsOf(fixture.store, null)).toEqual(rows);
    });

    it('the service still works after agents have sent garbage', async () => {
      const fixture = fixtureOf();
      const attacker = await fixture.newAttacker();
      const routes = fixture.routes.filter(
        ({ access, body }) => access.kind === 'agent' && body !== null,
      );
      const message = fc
        .constantFrom(...routes.map(({ url }) => url))
        .chain((url) => garbageFor(routeAt(fixture, url), attacker).map((body) => ({ url, body })));
      let sent = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(message, { minLength: 8, maxLength: 8 }), async (messages) => {
          const asked = messages.map(({ url, body }) => ({
            ...goodRequest(routeAt(fixture, url), attacker),
            body,
          }));
          expect(await faults(fixture, asked, isRight)).toEqual([]);
          sent += asked.length;
        }),
        { numRuns: GARBAGE_BATCHES },
      );
      expect(sent).toBe(GARBAGE_BATCHES * 8);
      // A correct agent of the same location is served as usual.
      const ask = (path: string, body: unknown) =>
        fixture.send({
          ...goodRequest(routeAt(fixture, path), attacker),
          body: JSON.stringify(body),
        });
      const polled = await ask('/agent/v1/poll', pollOf('good'));
      expect(polled.status).toBe(200);
      const results = routeAt(fixture, '/agent/v1/results');
      const taken = await ask('/agent/v1/results', bodyOf(results, attacker));
      expect(taken.json.rejected).toEqual([]);
      expect(taken.json.accepted).toHaveLength(2);
    });
  });
}

/** Allowed statuses of an invalid request, besides 401 and 403. */
const RIGHT: readonly number[] = [400, 404, 409, 413, 414];

const isRight = ({ status, headers }: Answer): boolean =>
  status < 300 || RIGHT.includes(status) || leadsToSignIn(status, headers.location);

/** Pages of the dashboard lead there without a session, and back only within the service. */
function leadsToSignIn(status: number, location: unknown): boolean {
  return status === 303 && /^\/sign-in\?next=%2F(?!%2F|%5C)[^&]*$/.test(String(location));
}

/** Fields of a body that may refer to the account's resources. */
function idsIn({ ids, checkIds, slug, accountId }: FullAccount): readonly string[] {
  return [...new Set([...Object.values(ids), ...Object.values(checkIds), slug, accountId])];
}

/** The first of PUT and PATCH if they share a handler. */
function eachHandler(routes: readonly Route[]): readonly Route[] {
  return [...new Map(routes.toReversed().map((route) => [route.handler, route])).values()];
}

/** All routes that require a key. */
function closed(routes: readonly Route[]): readonly Route[] {
  return routes.filter(({ access }) => access.kind !== 'public');
}

/** Routes that accept a body and answer with one. */
function heard(routes: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ access, params, method }) =>
      method !== 'HEAD' && (access.kind !== 'public' || params.length > 0),
  );
}

function routeAt({ routes }: HostileFixture, url: string): Route {
  const route = routes.find((each) => each.url === url);
  if (route === undefined) throw new Error(`there is no route ${url}`);
  return route;
}

/** The faults of the answers, as text: empty if all are correct. */
async function faults<S extends Sent>(
  fixture: HostileFixture,
  asked: readonly S[],
  isRight: (answer: Answer, sent: S) => boolean,
): Promise<readonly string[]> {
  const wrong = await each(asked, async (sent) => {
    const asked = `${sent.method} ${sent.path.slice(0, 300)} ${String(sent.body ?? '').slice(0, 300)}`;
    let answer: Answer;
    try {
      answer = await fixture.send(sent);
    } catch (error) {
      return [`${asked}: ${String(error)}`];
    }
    const faultsOfForm = fixture.judge(sent, answer);
    if (isRight(answer, sent)) return faultsOfForm;
    return [...faultsOfForm, `${asked}: ${answer.status} ${answer.text.slice(0, 300)}`];
  });
  return wrong.flat();
}

/**
 * One or two ids of the victim for the route's parameters, without numbers that both have: those
 * that the victim would use there, and `some` of the others.
 */
function foreignIds(
  { victim, victimIds, victimPairs }: HostileFixture,
  route: Route,
  { ids }: FullAccount,
  some: ReturnType<typeof sampler>,
): readonly (readonly string[])[] {
  const own = new Set(Object.values(ids));
  const isForeign = (id: string): boolean => !own.has(id);
  const all =
    route.params.length === 1
      ? victimIds.filter(isForeign).map((id) => [id])
      : victimPairs.filter((pair) => pair.some(isForeign));
  const chosen = new Set(some(all));
  const right = ownPath(route, victim);
  return all.filter((each) => chosen.has(each) || pathOf(route, each) === right);
}

/** Valid messages with one or several replaced fields, and values that are not messages. */
function garbageFor(route: Route, account: FullAccount): fc.Arbitrary<string> {
  const base = bodyOf(route, account);
  const places = leaves(route, base);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom<unknown>(...TEXTS, ...NUMBERS, [], {}, null, true),
    fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  );
  const changed = fc
    .array(fc.tuple(fc.constantFrom(...places), fc.nat({ max: 9 }), value), {
      minLength: 1,
      maxLength: 4,
    })
    .map((changes) =>
      changes.reduce(
        // Sometimes a whole branch instead of a leaf.
        (body, [{ path, example }, up, leaf]) =>
          withLeaf(body, example, up === 0 ? path.slice(0, -1) : path, leaf),
        base,
      ),
    );
  return fc.oneof(
    { weight: 8, arbitrary: changed.map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.json({ stringUnit: 'binary' }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
  );
}

function encoded(text: string): string {
  return encodeURIComponent(storableText(text));
}

function isNumber(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}
