import { describe, expect, it } from 'vitest';
import { createIncidentTrigger } from '../../../../../src/service/incidents/incident-trigger.ts';
import { databases } from '../../../../support/database/databases.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import {
  type Client,
  HOSTILE,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const INCIDENTS = '/v1/status-pages/incidents';
const NOBODY = '00000000-0000-4000-8000-000000000000';
const DAY_MS = 86_400_000;

let made = 0;

describe.each(databases)('the history of status pages, on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  const open = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    running().app.ask(path, { key: null, headers });
  const textOf = async (path: string): Promise<string> => {
    const { status, text } = await open(path);
    expect(status, text).toBe(200);
    return text;
  };

  async function newService(client: Client, name: string, fields: object = {}): Promise<string> {
    const created = await client.post('/v1/status-pages/services', { name, ...fields });
    expect(created.status, created.text).toBe(201);
    return created.json.id;
  }

  /** The path of a page with these services. */
  async function newPage(client: Client, services: readonly string[]): Promise<string> {
    made += 1;
    const url = `history-${made}`;
    const body = { name: 'Acme', url, cards: [{ name: 'All', services }] };
    expect((await client.post('/v1/status-pages', body)).status).toBe(201);
    return `/status/${url}`;
  }

  const at = (ms: number): string => new Date(ms).toISOString();
  const monthOf = (ms: number): string => at(ms).slice(0, 7);

  async function newIncident(client: Client, fields: object): Promise<string> {
    const created = await client.post(INCIDENTS, {
      name: 'Slow',
      severity: 'MAJOR',
      incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking into it' }],
      ...fields,
    });
    expect(created.status, created.text).toBe(201);
    return created.json.id;
  }

  it('has a permanent page of each incident, with everything that readers may know', async () => {
    const { mine, clock } = service();
    const [shop, mail] = [await newService(mine, 'Shop'), await newService(mine, 'Mail')];
    const page = await newPage(mine, [shop]);
    const startMs = Date.parse('2025-06-01T10:00:00Z');
    const id = await newIncident(mine, {
      name: 'The shop is slow',
      services: [shop, mail],
      postMortem: '# Why\n\nThe **disk** was full. <script>alert(1)</script>',
      incidentUpdates: [
        {
          status: 'INVESTIGATING',
          description: 'First words',
          publicIncidentUpdateDate: at(startMs),
        },
      ],
    });
    const path = `${page}/incidents/${id}`;
    const before = await textOf(path);
    for (const shown of ['The shop is slow', 'Partial outage', 'Open since', 'First words']) {
      expect(before).toContain(shown);
    }
    expect(before).toContain('<bdi>Shop</bdi>');
    expect(before).not.toContain('Mail');
    // Readers see it once the incident is resolved.
    expect(before).not.toContain('disk');
    clock.spend(1_000);
    await mine.post(`${INCIDENTS}/${id}/incident-updates`, {
      status: 'RESOLVED',
      description: 'Last words',
      publicIncidentUpdateDate: at(startMs + 125 * 60_000),
    });
    const after = await textOf(path);
    expect(after).toContain('Resolved after 2 h 5 min');
    expect(after.indexOf('Last words')).toBeLessThan(after.indexOf('First words'));
    expect(after).toContain('<h3>Why</h3><p>The <strong>disk</strong> was full. &lt;script&gt;');
    expect(after).not.toContain('<script');
  });

  it('is kept by caches and by the service until something changes', async () => {
    const { mine } = service();
    const shop = await newService(mine, 'Shop');
    const page = await newPage(mine, [shop]);
    const id = await newIncident(mine, { services: [shop] });
    for (const path of [`${page}/incidents/${id}`, `${page}/history`]) {
      const { headers } = await open(path);
      expect(headers['cache-control']).toBe('public, max-age=15, stale-while-revalidate=60');
      expect(headers['set-cookie']).toBeUndefined();
      const again = await open(path, { 'if-none-match': String(headers.etag) });
      expect([again.status, again.text]).toEqual([304, '']);
      await mine.patch(`${INCIDENTS}/${id}`, { name: `Renamed ${path.length}` });
      const changed = await open(path, { 'if-none-match': String(headers.etag) });
      expect(changed.status).toBe(200);
      expect(changed.text).toContain(`Renamed ${path.length}`);
    }
  });

  it('has neither drafts nor incidents of other pages, services and accounts', async () => {
    const { mine, theirs } = service();
    const [shop, other] = [await newService(mine, 'Shop'), await newService(mine, 'Other')];
    const page = await newPage(mine, [shop]);
    const foreign = await newService(theirs, 'Foreign');
    await newPage(theirs, [foreign]);
    const draft = await newIncident(mine, { name: 'Hidden', services: [shop], isDraft: true });
    const hidden = [
      draft,
      await newIncident(mine, { name: 'Hidden', services: [other] }),
      await newIncident(mine, { name: 'Hidden' }),
      await newIncident(theirs, { name: 'Hidden', services: [foreign] }),
      NOBODY,
      'no-uuid',
      NOBODY.toUpperCase(),
    ];
    const missing = await open(`${page}/none`);
    for (const id of hidden) {
      const { status, text } = await open(`${page}/incidents/${id}`);
      expect([status, text], id).toEqual([404, missing.text]);
    }
    expect(await textOf(`${page}/history`)).not.toContain('Hidden');
    expect(await textOf(page)).not.toContain('Hidden');
    await mine.patch(`${INCIDENTS}/${draft}`, { isDraft: false });
    for (const path of [`${page}/incidents/${draft}`, `${page}/history`, page]) {
      expect(await textOf(path), path).toContain('Hidden');
    }
  });

  it('escapes every text of users', async () => {
    const { mine } = service();
    const shop = await newService(mine, HOSTILE);
    const page = await newPage(mine, [shop]);
    const id = await newIncident(mine, {
      name: HOSTILE,
      services: [shop],
      postMortem: HOSTILE,
      incidentUpdates: [{ status: 'RESOLVED', description: HOSTILE }],
    });
    for (const path of [`${page}/incidents/${id}`, `${page}/history`]) {
      const text = await textOf(path);
      expect(text).toContain('&lt;b');
      expect(text).not.toContain('<b>');
    }
  });

  it('shows three months, and each month of three years by itself, with links between them', async () => {
    const { mine, clock } = service();
    const shop = await newService(mine, 'Shop');
    const page = await newPage(mine, [shop]);
    const now = new Date(clock.wallMs());
    const startOf = (before: number): number =>
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - before);
    const months = [0, 1, 2, 3, 35, 36];
    for (const before of months) {
      const dates = [startOf(before), startOf(before) + 60_000].map(at);
      await newIncident(mine, {
        name: `Incident ${before}.`,
        services: [shop],
        incidentUpdates: dates.map((publicIncidentUpdateDate, index) => ({
          status: index === 0 ? 'INVESTIGATING' : 'RESOLVED',
          description: 'Words',
          publicIncidentUpdateDate,
        })),
      });
    }
    const shownAt = async (path: string): Promise<readonly number[]> => {
      const text = await textOf(path);
      return months.filter((before) => text.includes(`Incident ${before}.`));
    };
    expect(await shownAt(`${page}/history`)).toEqual([0, 1, 2]);
    for (const before of [0, 1, 3, 35]) {
      expect(await shownAt(`${page}/history/${monthOf(startOf(before))}`)).toEqual([before]);
    }
    expect(await textOf(`${page}/history`)).toContain(
      `href="${page}/history/${monthOf(startOf(3))}" rel="prev"`,
    );
    const third = await textOf(`${page}/history/${monthOf(startOf(3))}`);
    expect(third).toContain(`href="${page}/history/${monthOf(startOf(4))}" rel="prev"`);
    expect(third).toContain(`href="${page}/history/${monthOf(startOf(2))}" rel="next"`);
    const last = await textOf(`${page}/history/${monthOf(startOf(35))}`);
    expect(last).not.toContain('rel="prev"');
    expect(await textOf(`${page}/history/${monthOf(startOf(0))}`)).not.toContain('rel="next"');
    for (const name of [
      monthOf(startOf(36)),
      monthOf(startOf(-1)),
      '2025-13',
      '2025-1',
      '2025',
      'x',
    ]) {
      expect((await open(`${page}/history/${name}`)).status, name).toBe(404);
    }
  });

  it('counts the events of a month that it does not show', async () => {
    const { mine, clock } = service();
    const shop = await newService(mine, 'Shop');
    const page = await newPage(mine, [shop]);
    for (let index = 0; index < 102; index += 1) {
      await newIncident(mine, { name: `Incident ${index}.`, services: [shop] });
      clock.spend(1);
    }
    const text = await textOf(`${page}/history/${monthOf(clock.wallMs())}`);
    expect(text).toContain('2 earlier events are not shown');
    expect(text).toContain('Incident 101.');
    expect(text).not.toContain('Incident 1.');
  });

  it('has the past maintenance of the services, and no future one', async () => {
    const { mine, clock } = service();
    const shop = await newService(mine, 'Shop', { checkTags: ['shop'] });
    const page = await newPage(mine, [shop]);
    const window = async (name: string, startMs: number, tags: readonly string[]) =>
      mine.post('/v1/maintenance-windows', {
        name,
        startsAt: at(startMs),
        endsAt: at(startMs + 90 * 60_000),
        repeatUnit: 'MONTH',
        tags,
      });
    const past = await window('Move of the shop', clock.wallMs() - 3 * DAY_MS, ['shop']);
    expect(past.status, past.text).toBe(201);
    await window('Move of others', clock.wallMs() - 3 * DAY_MS, ['others']);
    await window('Move to come', clock.wallMs() + DAY_MS, ['shop']);
    const text = await textOf(`${page}/history`);
    expect(text).toContain('Move of the shop');
    expect(text).toContain('1 h 30 min');
    expect(text).not.toContain('Move of others');
    expect(text).not.toContain('Move to come');
  });

  it('shows an incident of a check on the page as soon as the check opens and resolves it', async () => {
    const { mine, clock, store } = service();
    const shop = await newService(mine, 'Shop');
    const page = await newPage(mine, [shop]);
    expect(await textOf(page)).not.toContain('The shop is down');
    let ids = 0;
    const trigger = createIncidentTrigger({
      log: captureLog().log,
      ids: () => {
        ids += 1;
        return `${NOBODY.slice(0, -4)}${String(made).padStart(2, '0')}${String(ids).padStart(2, '0')}`;
      },
    });
    const { accountId } = mine;
    const fields = {
      serviceId: shop,
      severity: 'CRITICAL' as const,
      name: 'The shop is down',
      description: 'We look into it',
      notifySubscribers: false,
    };
    await store.transaction((tx) =>
      trigger.opened(tx, accountId, { checkId: 'c', trigger: fields, atMs: clock.wallMs() }),
    );
    const during = await textOf(page);
    for (const shown of ['The shop is down', 'We look into it', 'Major outage']) {
      expect(during).toContain(shown);
    }
    const [, link = ''] = /href="([^"]*\/incidents\/[^"]*)"/.exec(during) ?? [];
    expect(await textOf(link)).toContain('Open since');
    clock.spend(60_000);
    await store.transaction((tx) =>
      trigger.resolved(tx, accountId, { checkId: 'c', atMs: clock.wallMs() }),
    );
    expect(await textOf(page)).not.toContain('We look into it');
    expect(await textOf(link)).toContain('Resolved after 1 min');
  });

  it('of a month gets a link to the next one when that begins', async () => {
    const { mine, clock } = service();
    const page = await newPage(mine, [await newService(mine, 'Shop')]);
    const path = `${page}/history/${monthOf(clock.wallMs())}`;
    expect(await textOf(path)).not.toContain('rel="next"');
    clock.spend(32 * DAY_MS);
    expect(await textOf(path)).toContain(
      `href="${page}/history/${monthOf(clock.wallMs())}" rel="next"`,
    );
  });
});
