import { describe, expect, it } from 'vitest';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const REQUEST = { url: 'https://e.test/' };
const HEARTBEAT = { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' };
const PAGES = '/v1/status-pages';

/** One resource of each kind that a body can name. */
async function thingsOf({ post }: Client, name: string) {
  const made = async (path: string, body: object) => (await post(path, body)).json;
  await post('/v1/private-locations', { slug: name, name });
  const group = await made('/v1/check-groups', { name });
  const email = { type: 'EMAIL', config: { address: 'a@e.test' } };
  const channel = await made('/v1/alert-channels', email);
  const service = await made(`${PAGES}/services`, { name });
  await post('/v1/checks/url', { name, locations: ['eu-west-1'], request: REQUEST });
  const check = await made('/v1/checks/url', {
    name,
    privateLocations: [name],
    request: REQUEST,
  });
  return { slug: name, group, channel, service, check };
}

type Things = Awaited<ReturnType<typeof thingsOf>>;

const ofCheck = {
  groupId: ({ group }: Things) => group.id,
  privateLocations: ({ slug }: Things) => [slug],
  alertChannelSubscriptions: ({ channel }: Things) => [{ alertChannelId: channel.id }],
  triggerIncident: ({ service }: Things) => ({
    serviceId: service.id,
    severity: 'MAJOR',
    name: 'Down',
  }),
};

function field(name: keyof typeof ofCheck, things: Things): object {
  return { [name]: ofCheck[name](things) };
}

/** Requests with references, and the field of each reference. */
const NAMING: readonly (readonly [string, string, (things: Things) => object])[] = [
  ...(Object.keys(ofCheck) as (keyof typeof ofCheck)[]).map(
    (name) =>
      [
        '/v1/checks/url',
        `body.${name}`,
        (things: Things) => ({
          ...{ name: 'c', locations: ['eu-west-1'], request: REQUEST },
          ...field(name, things),
        }),
      ] as const,
  ),
  ...(['groupId', 'alertChannelSubscriptions', 'triggerIncident'] as const).map(
    (name) =>
      [
        '/v1/checks/heartbeats',
        `body.${name}`,
        (things: Things) => ({ name: 'h', heartbeat: HEARTBEAT, ...field(name, things) }),
      ] as const,
  ),
  [
    '/v1/check-groups',
    'body.privateLocations',
    ({ slug }) => ({ name: 'g', privateLocations: [slug] }),
  ],
  [
    '/v1/alert-channels',
    'body.subscriptions',
    ({ check }) => ({
      type: 'EMAIL',
      config: { address: 'b@e.test' },
      subscriptions: [{ checkId: check.id }],
    }),
  ],
  [
    PAGES,
    'body.cards',
    ({ service }) => ({
      name: 'p',
      url: `page-${service.id.slice(0, 8)}`,
      cards: [{ name: 'c', services: [service.id] }],
    }),
  ],
  [
    `${PAGES}/incidents`,
    'body.services',
    ({ service }) => ({
      name: 'i',
      severity: 'MINOR',
      services: [service.id],
      incidentUpdates: [{ status: 'INVESTIGATING', description: 'd' }],
    }),
  ],
];

describe('the body of a request', () => {
  const service = useAccounts(useRunningService('pglite'), 'shared');
  let both: Promise<readonly [Things, Things]> | null = null;
  const things = () => {
    const { mine, theirs } = service();
    both ??= Promise.all([thingsOf(mine, 'mine'), thingsOf(theirs, 'theirs')]);
    return both;
  };

  it.each(NAMING)('to %s may not name what another account has in %s', async (path, at, naming) => {
    const [own, foreign] = await things();
    const { mine } = service();
    expect((await mine.post(path, naming(own))).status).toBe(201);
    const refused = await mine.post(path, naming(foreign));
    expect(refused.status).toBe(400);
    expect(problemsIn(refused)).toEqual([expect.stringContaining(at)]);
  });

  it('may not name what another account has for a run or an analysis', async () => {
    const [own, foreign] = await things();
    const { mine } = service();
    const run = await mine.post(`/v1/checks/${own.check.id}/run`, { location: foreign.slug });
    expect(run.status).toBe(400);
    const asked = { checkId: foreign.check.id };
    expect((await mine.post('/v1/root-cause-analyses', asked)).status).toBe(404);
  });
});
