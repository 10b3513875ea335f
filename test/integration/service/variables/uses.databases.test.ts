import { describe, expect, it } from 'vitest';
import { createVariableUses } from '../../../../src/service/variables/uses.ts';
import { databases } from '../../../support/database/databases.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/variable-uses';

describe.each(databases)('on %s', (kind) => {
  describe('the uses of variables', () => {
    const service = useAccounts(useRunningService(kind));

    const api = (name: string, request: object, rest: object = {}) => ({
      name,
      checkType: 'API',
      frequency: 10,
      locations: ['eu-west-1'],
      request: { method: 'GET', url: 'https://shop.example.com/', ...request },
      ...rest,
    });
    const make = async (body: object): Promise<string> => {
      const { status, json } = await service().mine.post('/v1/checks', body);
      expect(status, JSON.stringify(json)).toBe(201);
      return json.id;
    };

    it('name each check once, in whatever part of a request the variable is, and say what is not defined', async () => {
      const { mine } = service();
      await mine.post('/v1/variables', { key: 'HOST', value: 'shop.example.com' });
      await mine.post('/v1/variables', { key: 'UNUSED', value: '' });
      const a = await make(
        api('A', { url: 'https://{{HOST}}/{{{ HOST }}}', body: 'a {{\tHOST }} {{TOKEN}}' }),
      );
      const b = await make(
        api('B', {
          headers: [
            { key: 'authorization', value: 'Bearer {{TOKEN}}' },
            { key: 'x-shop', value: '{{HOST}}' },
          ],
          queryParameters: [{ key: '{{NAME}}', value: '"{{VALUE}}"' }],
          basicAuth: { username: '{{USER}}', password: '{{PASSWORD}}' },
        }),
      );
      const { status, json } = await mine.get(PATH);
      expect(status).toBe(200);
      const use = (key: string, checks: readonly (readonly [string, string])[]) => ({
        key,
        isDefined: key === 'HOST',
        checkCount: checks.length,
        checks: checks.map(([id, name]) => ({ id, name })),
      });
      expect(json).toEqual({
        uses: [
          use('NAME', [[b, 'B']]),
          use('PASSWORD', [[b, 'B']]),
          use('TOKEN', [
            [a, 'A'],
            [b, 'B'],
          ]),
          use('USER', [[b, 'B']]),
          use('VALUE', [[b, 'B']]),
          use('HOST', [
            [a, 'A'],
            [b, 'B'],
          ]),
        ],
        droppedKeys: 0,
        isComplete: true,
      });
      const none = { uses: [], droppedKeys: 0, isComplete: true };
      expect((await service().theirs.get(PATH)).json).toEqual(none);
    });

    it('leave out what is no placeholder, what assertions compare with, and what a check defines itself', async () => {
      await make(
        api(
          'A',
          {
            url: 'https://shop.example.com/{{}}/{HOST}/{{OWN}}',
            body: '{{1X}} {{ A B }} {{A-B}}',
            assertions: [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: '{{OTHER}}' }],
          },
          { variables: [{ key: 'OWN', value: '1' }] },
        ),
      );
      await make(api('B', { url: 'https://shop.example.com/{{OWN}}' }));
      const { uses } = (await service().mine.get(PATH)).json;
      expect(uses).toMatchObject([{ key: 'OWN', checkCount: 1, checks: [{ name: 'B' }] }]);
    });

    it('count all checks, and name the first ten; with a key, all of that variable', async () => {
      const { mine } = service();
      const names = Array.from({ length: 12 }, (_, n) => `Check ${String(n).padStart(2, '0')}`);
      for (const name of names) await make(api(name, { body: '{{TOKEN}} {{HOST}}' }));
      const { uses } = (await mine.get(PATH)).json;
      expect(uses).toMatchObject([
        { key: 'HOST', checkCount: 12 },
        { key: 'TOKEN', checkCount: 12 },
      ]);
      expect(uses[0].checks.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, 10));
      const one = (await mine.get(`${PATH}?key=TOKEN`)).json;
      expect(one.uses.map(({ key }: { key: string }) => key)).toEqual(['TOKEN']);
      expect(one.uses[0].checks.map(({ name }: { name: string }) => name)).toEqual(names);
      expect((await mine.get(`${PATH}?key=a-b`)).status).toBe(400);
    });

    it('look at no more checks than the bound, of those with placeholders, and say so', async () => {
      await make(api('Plain', {}));
      for (const name of ['A', 'B']) await make(api(name, { body: '{{TOKEN}}' }));
      const { store, mine } = service();
      const within = async (maxRead: number, key: string | null = null) => {
        const uses = createVariableUses({ store, maxRead });
        return uses.list(mine.accountId, key);
      };
      expect(await within(2)).toMatchObject({ uses: [{ checkCount: 2 }], isComplete: true });
      expect(await within(1)).toMatchObject({ isComplete: false });
      // Text that only contains the name is looked at, and found not to be a placeholder of it.
      await make(api('C', { body: '{{TOKENS}}' }));
      expect(await within(3, 'TOKEN')).toMatchObject({ uses: [{ checkCount: 2 }] });
      expect(await within(3, 'OTHER')).toEqual({ uses: [], droppedKeys: 0, isComplete: true });
    });
  });
});
