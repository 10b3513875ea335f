import { describe, expect, it } from 'vitest';
import { defaultsOf } from '../../../support/contract/field-rules.ts';
import { MAINTENANCE_WINDOW } from '../../../support/contract/resource-tables.ts';
import { type ContractFixture, created, formedList, otherThan } from './contract-fixture.ts';
import { PAGES } from './results.suite.ts';

const WINDOWS = '/v1/maintenance-windows';
const SMALL_WINDOW = {
  name: 'Night',
  startsAt: '2026-02-01T02:00:00.000Z',
  endsAt: '2026-02-01T03:00:00.000Z',
  repeatUnit: 'DAY',
};

/** 2.11, 4.12, 4.13. */
export function windowsContract(fixture: () => ContractFixture): void {
  describe('maintenance windows', () => {
    it('are listed with every field, and every default', async () => {
      const { mine } = fixture();
      const full = {
        ...SMALL_WINDOW,
        name: 'Full',
        tags: ['shop'],
        repeatInterval: 2,
        repeatEndsAt: '2026-03-01T00:00:00.000Z',
        pauseAllChecks: true,
        silenceAlertsTags: ['shop'],
        silenceAllAlerts: true,
      };
      const ids = [
        created(await mine.post(WINDOWS, full)).id,
        created(await mine.post(WINDOWS, SMALL_WINDOW)).id,
      ];
      await mine.patch(`${WINDOWS}/${ids[0]}`, { tags: ['shop', 'home'] });
      const listed = formedList(MAINTENANCE_WINDOW, await mine.get(`${WINDOWS}?limit=100`));
      const [changed, small] = ids.map((id) => listed.find((one: { id: number }) => one.id === id));
      const { startsAt, endsAt, repeatEndsAt, ...others } = full;
      expect(changed).toMatchObject({ ...others, tags: ['shop', 'home'] });
      expect([changed.startsAt, changed.endsAt, changed.repeatEndsAt].map(Date.parse)).toEqual(
        [startsAt, endsAt, repeatEndsAt].map(Date.parse),
      );
      expect(changed.updated_at).not.toBeNull();
      expect(small).toMatchObject(defaultsOf(MAINTENANCE_WINDOW));
      for (const id of ids) {
        const gone = await mine.delete(`${WINDOWS}/${id}`);
        expect([gone.status, gone.text]).toEqual([204, '']);
      }
      expect((await mine.delete(`${WINDOWS}/${ids[0]}`)).status).toBe(404);
      expect((await mine.delete(`${WINDOWS}/one`)).status).toBe(400);
    });

    it.each([
      [{ name: 'x'.repeat(200) }, 201],
      [{ name: 'x'.repeat(201) }, 400],
      [{ repeatInterval: 1 }, 201],
      [{ repeatInterval: null }, 201],
      [{ repeatInterval: 0 }, 400],
      [{ repeatUnit: 'WEEK' }, 201],
      [{ repeatUnit: 'MONTH' }, 201],
      [{ repeatUnit: 'YEAR' }, 400],
      [{ startsAt: undefined }, 400],
      [{ endsAt: undefined }, 400],
      [{ repeatUnit: undefined }, 400],
      [{ name: undefined }, 400],
    ])('with %j are answered with %i', async (fields, status) => {
      const reply = await fixture().mine.post(WINDOWS, { ...SMALL_WINDOW, ...fields });
      expect(reply.status, reply.text).toBe(status);
    });

    it('come in pages of 10 by default', async () => {
      const client = await fixture().newClient();
      for (let number = 0; number < 11; number += 1) {
        created(await client.post(WINDOWS, { ...SMALL_WINDOW, name: `Window ${number}` }));
      }
      expect((await client.get(WINDOWS)).json).toHaveLength(10);
      expect((await client.get(`${WINDOWS}?limit=11`)).json).toHaveLength(11);
    });

    it('are filtered by when they start and end, in pages of 1 to 100', async () => {
      const { mine } = fixture();
      const { id } = created(await mine.post(WINDOWS, { ...SMALL_WINDOW, name: 'Filtered' }));
      const found = async (query: string): Promise<boolean> => {
        const listed = (await mine.get(`${WINDOWS}?limit=100&${query}`)).json;
        return listed.some((one: { id: number }) => one.id === id);
      };
      const { startsAt, endsAt } = SMALL_WINDOW;
      expect(await found(`startsAt[gte]=${startsAt}`)).toBe(true);
      expect(await found(`startsAt[gt]=${startsAt}`)).toBe(false);
      expect(await found(`endsAt[lte]=${endsAt}`)).toBe(true);
      expect(await found(`endsAt[lt]=${endsAt}`)).toBe(false);
      const asked = (query: string): string => `${WINDOWS}?${query}`;
      expect(await otherThan(200, mine, PAGES.taken.map(asked))).toEqual([]);
      const refused = [...PAGES.refused, 'startsAt[gt]=x', 'startsAt[is]=2026-01-01'];
      expect(await otherThan(400, mine, refused.map(asked))).toEqual([]);
    });
  });
}
