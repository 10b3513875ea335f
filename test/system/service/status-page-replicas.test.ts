import { createHmac } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { lacking } from '../../support/process/system-needs.ts';
import { gatedMailServer } from '../../support/servers/gated-mail-server.ts';
import { type HookServer, hookServer } from '../../support/servers/hook-server.ts';
import { type RunningService, readDatabase, until } from '../../support/service/deployment.ts';
import type { Ask, Reply } from '../../support/service/service-app.ts';
import { SERVICE_URL, startReplicas, WEB_URL } from '../../support/status-pages/replicas.ts';
import { confirming, mailText, tokenIn } from '../../support/status-pages/subscriptions.ts';

const PAGES = '/v1/status-pages';
const PASSWORD = 'open sesame';
const DOMAIN = 'status.acme.example';
const FORM = 'application/x-www-form-urlencoded';
/** More than one replica claims at once for an account, so that both have some to send. */
const SUBSCRIBERS = 70;
const LACKING = lacking({ commands: ['ip'], files: [] });

type Replica = Pick<RunningService, 'ask'>;

function read(replica: Replica, path: string, headers: Ask['headers'] = {}): Promise<Reply> {
  return replica.ask(path, { key: null, headers });
}

function send(replica: Replica, path: string, body: string, client = '192.0.2.1') {
  const headers = { 'content-type': FORM, 'x-forwarded-for': client };
  return replica.ask(path, { key: null, method: 'POST', headers, body });
}

async function post(replica: Replica, path: string, body: object): Promise<Reply['json']> {
  const made = await replica.ask(path, { method: 'POST', body });
  expect(made.status, made.text).toBe(201);
  return made.json;
}

/** A page with a service; `fields` replace the defaults. */
async function makePage(replica: Replica, fields: object = {}) {
  const shop: string = (await post(replica, `${PAGES}/services`, { name: 'Shop' })).id;
  const cards = [{ name: 'Websites', services: [shop] }];
  const page = await post(replica, PAGES, { name: 'Acme', url: 'acme', cards, ...fields });
  return { shop, path: `${PAGES}/${page.id}` };
}

function openIncident(replica: Replica, shop: string): Promise<Reply['json']> {
  return post(replica, `${PAGES}/incidents`, {
    name: 'Orders fail',
    severity: 'MAJOR',
    services: [shop],
    incidentUpdates: [
      { status: 'INVESTIGATING', description: 'We look into it.', notifySubscribers: true },
    ],
  });
}

/** Answers the challenge of webhooks, and has a picture of this colour. */
async function webServer(color: () => string): Promise<HookServer> {
  return hookServer((request, response) => {
    if (request.method === 'POST') return confirming(request, response);
    const create = { width: 40, height: 10, channels: 3 as const, background: color() };
    void sharp({ create })
      .png()
      .toBuffer()
      .then((file) => response.end(file));
  });
}

async function colorOf(replica: Replica): Promise<string> {
  const { text } = await read(replica, '/status/acme');
  const logo = /src="([^"]*\/logo\?v=[^"]*)"/.exec(text)?.[1];
  if (logo === undefined) return 'none';
  const answer = await fetch(`http://127.0.0.1:${(replica as RunningService).port}${logo}`);
  const { dominant } = await sharp(Buffer.from(await answer.arrayBuffer())).stats();
  return dominant.r > dominant.b ? 'red' : 'blue';
}

describe.skipIf(LACKING !== null)(
  `status pages of two replicas (lacking: ${LACKING ?? 'nothing'})`,
  () => {
    it('show at each replica what changed at the other: privacy, password, pictures, incidents and domain', async () => {
      let color = '#ff0000';
      const web = await webServer(() => color);
      const mail = await gatedMailServer();
      const { replicas } = await startReplicas(web, [mail.port, mail.port]);
      const [first, second] = replicas as [RunningService, RunningService];
      const { shop, path } = await makePage(first, { logo: `${WEB_URL}/logo.png` });
      const shown = (replica: Replica, headers?: Ask['headers']) =>
        read(replica, '/status/acme', headers);
      const change = async (replica: Replica, fields: object): Promise<void> => {
        const changed = await replica.ask(path, { method: 'PATCH', body: fields });
        expect(changed.status, changed.text).toBe(200);
      };

      // Pictures: one replica fetches, both serve.
      for (const replica of replicas) {
        await until(
          () => colorOf(replica),
          (seen) => seen === 'red',
        );
      }
      color = '#0000ff';
      expect((await second.ask(`${path}/fetch-pictures`, { method: 'POST' })).status).toBe(200);
      for (const replica of replicas) {
        await until(
          () => colorOf(replica),
          (seen) => seen === 'blue',
        );
      }

      const incident = await openIncident(second, shop);
      for (const replica of replicas) {
        await until(
          () => shown(replica),
          ({ text }) => text.includes('We look into it.'),
        );
        const page = await read(replica, `/status/acme/incidents/${incident.id}`);
        expect(page.status).toBe(200);
      }

      await change(first, { isPrivate: true, password: PASSWORD });
      await until(
        () => shown(second),
        ({ status }) => status === 404,
      );
      for (const below of ['feed.atom', 'summary.json', 'badges/state.svg', 'logo', 'history']) {
        expect((await read(second, `/status/acme/${below}`)).status, below).toBe(404);
      }
      const entered = await send(second, '/status/acme/access', `password=${PASSWORD}`);
      expect(entered.status).toBe(303);
      const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
      for (const replica of replicas) expect((await shown(replica, { cookie })).status).toBe(200);
      await change(second, { password: 'another long password' });
      for (const replica of replicas) {
        await until(
          () => shown(replica, { cookie }),
          ({ status }) => status === 404,
        );
      }

      // Wrong passwords count together.
      const guesses = Array.from({ length: 10 }, (_, index) => replicas[index % 2] as Replica);
      for (const replica of guesses) {
        expect((await send(replica, '/status/acme/access', 'password=wrong')).status).toBe(403);
      }
      for (const replica of replicas) {
        const late = await send(replica, '/status/acme/access', 'password=another+long+password');
        expect(late.status).toBe(429);
      }

      await change(first, { isPrivate: false, customDomain: DOMAIN });
      for (const replica of replicas) {
        const atDomain = () => read(replica, '/', { host: DOMAIN });
        await until(atDomain, ({ status, text }) => status === 200 && text.includes('Acme'));
      }
      expect((await second.ask(path, { method: 'DELETE' })).status).toBe(204);
      for (const replica of replicas) {
        await until(
          () => shown(replica),
          ({ status }) => status === 404,
        );
      }
    });

    it('send one message for each subscriber and update although both run, also if one is killed', async () => {
      const web = await webServer(() => '#000000');
      const mails = [await gatedMailServer(), await gatedMailServer()] as const;
      const ports = mails.map(({ port }) => port);
      const { databaseUrl, replicas } = await startReplicas(web, ports);
      const [first, second] = replicas as [RunningService, RunningService];
      const { shop, path } = await makePage(first);
      const sentMails = () => mails.flatMap((server) => server.mails);
      const receiversOf = (words: string) =>
        sentMails()
          .filter((mail) => mailText(mail).includes(words))
          .map(({ to }) => to[0]);

      // Requested at one replica, confirmed at the other.
      const addresses = Array.from(
        { length: SUBSCRIBERS },
        (_, index) => `ann${index}@example.com`,
      );
      await Promise.all(
        addresses.map(async (email, index) => {
          const replica = replicas[index % 2] as Replica;
          const asked = await send(
            replica,
            '/status/acme/subscribe',
            new URLSearchParams({ email, scope: 'all' }).toString(),
            `192.0.2.${index}`,
          );
          expect(asked.status, asked.text).toBe(202);
        }),
      );
      await until(
        async () => sentMails(),
        ({ length }) => length >= SUBSCRIBERS,
      );
      for (const [index, confirmation] of sentMails().entries()) {
        const token = tokenIn(confirmation);
        const replica = replicas[(index + 1) % 2] as Replica;
        const confirmed = await send(replica, `/status/acme/subscriptions/${token}/confirm`, '');
        expect(confirmed.status).toBe(200);
      }
      const subscribed = await second.ask('/status/acme/subscribe', {
        key: null,
        method: 'POST',
        body: { url: `${WEB_URL}/hook` },
      });
      expect(subscribed.status, subscribed.text).toBe(201);
      const { secret } = subscribed.json;
      expect(JSON.parse(web.requests[0]?.body ?? '')).toMatchObject({
        type: 'subscription.challenge',
        page: { name: 'Acme', url: `${SERVICE_URL}/status/acme` },
      });

      // Both replicas send some of the messages at the same time.
      for (const server of mails) server.hold();
      const incident = await openIncident(second, shop);
      await until(
        async () => mails.map(({ held }) => held),
        (held) => held.every((count) => count > 0),
      );
      for (const server of mails) server.release();
      await until(
        async () => sentMails(),
        ({ length }) => length >= 2 * SUBSCRIBERS,
      );
      await until(
        async () => web.requests,
        ({ length }) => length >= 2,
      );

      // One dies while it sends.
      for (const server of mails) server.hold();
      const updates = `${PAGES}/incidents/${incident.id}/incident-updates`;
      await post(second, updates, {
        status: 'RESOLVED',
        description: 'All is well again.',
        notifySubscribers: true,
      });
      await until(
        async () => mails[0].held,
        (held) => held > 0,
      );
      await first.kill('SIGKILL');
      await until(
        async () => mails[0].held,
        (held) => held === 0,
      );
      for (const server of mails) server.release();
      const unfinished = () =>
        readDatabase(
          { databaseUrl },
          `select distinct owner, state from status_page_deliveries where finished_at is null`,
        );
      await until(unfinished, (rows) => rows.length === 1);
      // As if the time of its leases had passed.
      await readDatabase(
        { databaseUrl },
        `update status_page_deliveries set lease_until = now() where finished_at is null`,
      );
      await until(unfinished, (rows) => rows.length === 0);

      expect(sentMails()).toHaveLength(3 * SUBSCRIBERS);
      for (const words of ['confirm within a day', 'We look into it.', 'All is well again.']) {
        expect(new Set(receiversOf(words)), words).toEqual(new Set(addresses));
      }
      const told = web.requests.slice(1);
      expect(told.map(({ body }) => JSON.parse(body).update.status)).toEqual([
        'INVESTIGATING',
        'RESOLVED',
      ]);
      for (const { headers, body } of told) {
        const signature = createHmac('sha256', secret).update(body).digest('hex');
        expect(headers['x-service-signature']).toBe(signature);
      }
      const { json } = await second.ask(`${path}/subscribers?limit=100`);
      expect(json).toHaveLength(SUBSCRIBERS + 1);
    });
  },
);
