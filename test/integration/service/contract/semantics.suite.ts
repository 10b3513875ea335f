import { describe, expect, it } from 'vitest';
import { LIMITS, SMALLEST } from '../../../support/contract/semantic-limits.ts';
import { type ContractFixture, created } from './contract-fixture.ts';

/** Sections 1, 5 and 6 of the semantics, which fill what the specification leaves open. */
export function semanticsContract(fixture: () => ContractFixture): void {
  describe('checks of each type, as the semantics have them', () => {
    it.each([
      ['url', 3000, 5000],
      ['api', 5000, 20_000],
      ['tcp', 3000, 5000],
      ['dns', 500, 1000],
    ] as const)('%s have thresholds of their own', async (type, degraded, max) => {
      const check = created(await fixture().mine.post(`/v1/checks/${type}`, SMALLEST[type]));
      expect(check).toMatchObject({ degradedResponseTime: degraded, maxResponseTime: max });
    });

    it.each(LIMITS)('%s take %s up to its edges', async (type, _field, bodyOf, taken, refused) => {
      const wrong: string[] = [];
      const post = async (value: unknown, wanted: number): Promise<void> => {
        const body = { ...SMALLEST[type], ...bodyOf(value as never) };
        const { status, text } = await fixture().mine.post(`/v1/checks/${type}`, body);
        if (status !== wanted) wrong.push(`${JSON.stringify(value)}: ${status} ${text}`);
      };
      for (const value of taken) await post(value, 201);
      for (const value of refused) await post(value, 400);
      expect(wrong).toEqual([]);
    });

    it('need a location, and a degraded threshold that is not over the maximum', async () => {
      const { mine } = fixture();
      const { request: sent, name } = SMALLEST.url;
      expect((await mine.post('/v1/checks/url', { request: sent, name })).status).toBe(400);
      const upsideDown = { degradedResponseTime: 2, maxResponseTime: 1 };
      const reply = await mine.post('/v1/checks/url', { ...SMALLEST.url, ...upsideDown });
      expect(reply.status).toBe(400);
    });
  });
}
