import { describe, expect, it } from 'vitest';
import { defaultsOf } from '../../../support/contract/field-rules.ts';
import {
  COLORS,
  INCIDENT,
  STATUS_PAGE,
  STATUS_PAGE_INCIDENT,
} from '../../../support/contract/page-tables.ts';
import { type ContractFixture, created, formed } from './contract-fixture.ts';

const PAGES = '/v1/status-pages';
const UPDATES = [
  { status: 'INVESTIGATING', description: 'We look into it.' },
  { status: 'RESOLVED', description: 'All is well.' },
];

/** Both kinds: those of the dashboard, 2.16 and 4.9, and those of status pages, 4.8. */
const FAMILIES = [
  ['/v1/incidents', INCIDENT],
  [`${PAGES}/incidents`, STATUS_PAGE_INCIDENT],
] as const;

/** 2.8, 2.16, 4.7 to 4.9. */
export function incidentsContract(fixture: () => ContractFixture): void {
  describe('status pages', () => {
    let made = 0;
    const page = async (fields: object) => {
      made += 1;
      return await fixture().mine.post(PAGES, { name: 'Shop', url: `contract-${made}`, ...fields });
    };

    it('have every field as it was written', async () => {
      const { mine, serviceId } = fixture();
      const colors = Object.fromEntries(COLORS.map((name) => [name, '#123456']));
      const fields = {
        description: 'How the shop is',
        customDomain: 'status.shop.test',
        themeColors: { light: colors, dark: colors },
        logo: 'https://shop.test/logo.png',
        redirectTo: 'https://shop.test/',
        favicon: 'https://shop.test/favicon.ico',
        defaultTheme: 'DARK',
        whiteLabel: true,
        isPrivate: true,
      };
      const cards = [{ name: 'Front', services: [serviceId] }];
      const { id } = created(await page({ ...fields, cards }));
      const read = formed(STATUS_PAGE, await mine.get(`${PAGES}/${id}`));
      expect(read).toMatchObject({ ...fields, cards: [{ name: 'Front' }] });
      expect(read.cards[0].services).toMatchObject([{ id: serviceId, accountId: mine.accountId }]);
    });

    it('have every default', async () => {
      const { id } = created(await page({}));
      const read = formed(STATUS_PAGE, await fixture().mine.get(`${PAGES}/${id}`));
      expect(read).toMatchObject(defaultsOf(STATUS_PAGE));
    });

    it.each([
      [{ description: 'x'.repeat(500) }, 201],
      [{ description: 'x'.repeat(501) }, 400],
      [{ description: null }, 201],
      [{ defaultTheme: 'LIGHT' }, 201],
      [{ defaultTheme: 'AUTO' }, 201],
      [{ defaultTheme: 'BLUE' }, 400],
      [{ isPrivate: 'yes' }, 400],
      [{ name: undefined }, 400],
      [{ url: undefined }, 400],
    ])('with %j are answered with %i', async (fields, status) => {
      const reply = await page(fields);
      expect(reply.status, reply.text).toBe(status);
    });
  });

  describe.each(FAMILIES)('incidents at %s', (path, table) => {
    const own =
      table === INCIDENT
        ? {
            impact: 'MAJOR',
            dashboardId: 7,
            startedAt: '2026-01-01 01:02:03',
            stoppedAt: '2026-01-01 04:05:06',
          }
        : { severity: 'CRITICAL' };

    const [first, second] = UPDATES;
    const opened = async (): Promise<string> => {
      const body = { name: 'Down', ...own, incidentUpdates: [first] };
      const made = created(await fixture().mine.post(path, body));
      expect(made).toMatchObject({ name: 'Down', ...own });
      return `${path}/${made.id}`;
    };

    it('have the form of the table, also after an update', async () => {
      const { mine } = fixture();
      const at = await opened();
      formed(table, await mine.get(at));
      created(await mine.post(`${at}/incident-updates`, second));
      formed(table, await mine.get(`${at}?includeAllIncidentUpdates=true`));
    });

    it('have their first update, or all on request', async () => {
      const { mine } = fixture();
      const at = await opened();
      created(await mine.post(`${at}/incident-updates`, second));
      const updatesOf = async (query: string): Promise<unknown[]> => {
        const { status, json } = await mine.get(`${at}${query}`);
        expect(status).toBe(200);
        return json.incidentUpdates.map((one: { status: string }) => one.status);
      };
      expect(await updatesOf('')).toHaveLength(1);
      expect(await updatesOf('?includeAllIncidentUpdates=false')).toHaveLength(1);
      const all = await updatesOf('?includeAllIncidentUpdates=true');
      expect(new Set(all)).toEqual(new Set(['INVESTIGATING', 'RESOLVED']));
      expect((await mine.get(`${at}?includeAllIncidentUpdates=maybe`)).status).toBe(400);
    });

    it('are deleted, and are gone', async () => {
      const { mine } = fixture();
      const { id } = created(
        await mine.post(path, { name: 'Gone', ...own, incidentUpdates: UPDATES }),
      );
      const gone = await mine.delete(`${path}/${id}`);
      expect([gone.status, gone.text]).toEqual([204, '']);
      expect((await mine.get(`${path}/${id}`)).status).toBe(404);
      expect((await mine.delete(`${path}/${id}`)).status).toBe(404);
    });
  });

  it('incidents have one of three severities, and those of status pages one of four', async () => {
    const { mine } = fixture();
    const statusOf = async (path: string, fields: object): Promise<unknown> => {
      const body = { name: 'Down', incidentUpdates: UPDATES, ...fields };
      return [fields, (await mine.post(path, body)).status];
    };
    for (const impact of ['MAINTENANCE', 'MAJOR', 'MINOR']) {
      expect(await statusOf('/v1/incidents', { impact })).toEqual([{ impact }, 201]);
    }
    for (const severity of ['CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR']) {
      expect(await statusOf(`${PAGES}/incidents`, { severity })).toEqual([{ severity }, 201]);
    }
    const impact = 'HUGE';
    expect(await statusOf('/v1/incidents', { impact })).toEqual([{ impact }, 400]);
    const severity = 'MAINTENANCE';
    expect(await statusOf(`${PAGES}/incidents`, { severity })).toEqual([{ severity }, 400]);
  });
}
