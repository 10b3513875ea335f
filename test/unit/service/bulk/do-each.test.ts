import { describe, expect, it } from 'vitest';
import { doEach, type EachParts, MAX_WORK_MS } from '../../../../src/service/bulk/do-each.ts';
import { notFound, ServiceError, unavailable } from '../../../../src/service/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const ITEMS = ['a', 'b', 'c', 'd'];

/** Does the work for ITEMS. */
function eachOf(work: (id: string) => void, own: Partial<EachParts<string>> = {}) {
  return doEach<string>({
    clock: new FakeClock(),
    items: ITEMS,
    idOf: (id) => id,
    work: async (id) => {
      work(id);
      return { status: 200, id };
    },
    errorOf: (thrown) => thrown as ServiceError,
    signal: new AbortController().signal,
    ...own,
  });
}

const throwAt = (at: string, error: Error) => (id: string) => {
  if (id === at) throw error;
};

describe('doEach', () => {
  it('continues after a failure, and returns what each item alone would return', async () => {
    const error = new ServiceError(402, 'no', { attributes: { plan: 'small' } });
    const results = await eachOf(throwAt('b', error));
    expect(results).toEqual([
      { index: 0, id: 'a', status: 200 },
      {
        index: 1,
        id: 'b',
        status: 402,
        error: {
          statusCode: 402,
          error: 'Payment Required',
          message: 'no',
          attributes: { plan: 'small' },
        },
      },
      { index: 2, id: 'c', status: 200 },
      { index: 3, id: 'd', status: 200 },
    ]);
  });

  it('begins nothing after its time has passed, and says so for each item that is left', async () => {
    const clock = new FakeClock();
    const begun: string[] = [];
    const work = (id: string): void => {
      begun.push(id);
      clock.spend(MAX_WORK_MS / 2);
    };
    const results = await eachOf(work, { clock });
    expect(begun).toEqual(['a', 'b']);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ['a', 200],
      ['b', 200],
      ['c', 503],
      ['d', 503],
    ]);
    expect(results[3]?.error).toMatchObject({
      message: 'Not begun: a request may take 25 s; send the rest in another request',
      attributes: { retryAfterSeconds: 5 },
    });
  });

  it('begins nothing after the client has gone', async () => {
    const gone = new AbortController();
    const begun: string[] = [];
    const work = (id: string): void => {
      begun.push(id);
      if (id === 'b') gone.abort();
    };
    const results = await eachOf(work, { signal: gone.signal });
    expect(begun).toEqual(['a', 'b']);
    expect(results.map(({ status }) => status)).toEqual([200, 200, 503, 503]);
  });

  it('begins nothing more while the database does not answer', async () => {
    const away = unavailable('The database does not answer now; try again', 5);
    const begun: string[] = [];
    const results = await eachOf((id) => {
      begun.push(id);
      if (id === 'b') throw away;
    });
    expect(begun).toEqual(['a', 'b']);
    expect(results.map(({ status }) => status)).toEqual([200, 503, 503, 503]);
    expect(results[1]?.error?.message).toBe(away.message);
    expect(results[2]?.error?.message).toContain('Not begun: the database does not answer');
  });

  it('fails as a whole where nothing was written, so that the request can be sent again', async () => {
    const away = unavailable('The database does not answer now; try again', 5);
    await expect(eachOf(throwAt('a', away))).rejects.toBe(away);
    const noneAndAway = eachOf((id) => {
      throw id === 'a' ? notFound('check') : away;
    });
    await expect(noneAndAway).rejects.toBe(away);
    const gone = eachOf(() => {}, { signal: AbortSignal.abort() });
    await expect(gone).rejects.toMatchObject({ status: 503 });
  });
});
