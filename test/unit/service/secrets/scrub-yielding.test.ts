import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { scrubResult } from '../../../../src/scrub/result-fields.ts';
import { createScrubber, NO_SECRETS } from '../../../../src/scrub/scrubber.ts';
import type { Sql } from '../../../../src/service/database/store.ts';
import { scrubYielding } from '../../../../src/service/secrets/scrub-yielding.ts';
import { createSecretScrubbing } from '../../../../src/service/secrets/secret-scrubbing.ts';
import type { ReceivedResult } from '../../../../src/wire/v1/check-result.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../../support/samples/http-results.ts';
import { TEST_CHECK_VARIABLES } from '../../../support/service/service-features.ts';

const SECRET = 'correct-horse-battery';
const LINES = 60;

/** As long as the protocol allows, with the secret in every part, plain and encoded. */
function longResult(): ReceivedResult {
  const filler = 'é lorem ipsum '.repeat(500);
  const jobLog = Array.from({ length: LINES }, (_, n) => ({
    time: n,
    level: 'info' as const,
    msg: `${n} ${filler}${Buffer.from(`x${SECRET}`).toString('base64')}`,
  }));
  const request = {
    ...HTTP_DETAIL.request,
    headers: { [SECRET]: filler, b: `${filler}${SECRET}` },
  };
  const response = {
    ...HTTP_RESPONSE,
    // Longer than what is searched without a yield.
    url: `http://127.0.0.1/${filler.repeat(4)}${SECRET}`,
    headers: { 'set-cookie': ['a=b'], c: [filler + SECRET, filler] },
    body: JSON.stringify({ inner: JSON.stringify({ key: SECRET }) }),
  };
  return resultOf({ apiCheckResult: { ...HTTP_DETAIL, request, response, jobLog } });
}

describe('the scrubbing of one result', () => {
  const scrubber = createScrubber([SECRET, 'another secret']);

  it('gives the same as scrubbing at once, and yields after each text over the limit', async () => {
    const result = longResult();
    let turns = 0;
    const scrubbed = await scrubYielding(result, scrubber, async () => {
      turns += 1;
    });
    expect(scrubbed).toEqual(scrubResult(result, scrubber));
    const text = JSON.stringify(scrubbed);
    expect(text).not.toContain(SECRET);
    expect(text.split(MASK)).toHaveLength(LINES + 7);
    expect(turns).toBeGreaterThan(LINES);
  });

  it('returns the same object if nothing is found, and does not yield for a short text', async () => {
    const unheard = createScrubber(['never said']);
    const clean = JSON.parse(JSON.stringify(longResult()).replaceAll('a=b', MASK));
    clean.apiCheckResult.response.headers['set-cookie'] = [MASK];
    expect(await scrubYielding(clean, unheard, async () => undefined)).toBe(clean);
    const short = resultOf({ apiCheckResult: { ...HTTP_DETAIL, requestError: SECRET } });
    const never = () => Promise.reject(new Error('there is no need for a turn'));
    expect((await scrubYielding(short, scrubber, never)).apiCheckResult?.requestError).toBe(MASK);
  });

  it('without secrets masks what is always masked', async () => {
    const never = () => Promise.reject(new Error('there is no need for a turn'));
    const { apiCheckResult } = await scrubYielding(longResult(), NO_SECRETS, never);
    expect(apiCheckResult?.response?.headers['set-cookie']).toEqual([MASK]);
    expect(apiCheckResult?.jobLog).toHaveLength(LINES);
  });

  it('yields to the event loop in the service, even for a single result', async () => {
    // Each reading of the clock advances it by the time of a slow text.
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => (nowMs += 3) };
    const variables = { forAgents: async () => [{ key: 'A', value: SECRET, secret: true }] };
    const checkVariables = TEST_CHECK_VARIABLES;
    const scrubbing = createSecretScrubbing({ clock, variables, checkVariables });
    const none: Sql = { query: () => Promise.reject(new Error('nothing is asked')) };
    const state = { revision: 1, ownSecrets: new Map<string, string>() };
    const turnsFor = async (result: ReceivedResult) => {
      let turns = 0;
      let isDone = false;
      const done = scrubbing.results(none, 'account', [result], state).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        await nextTurn();
        turns += 1;
      }
      await done;
      return turns;
    };
    await turnsFor(resultOf());
    const [short, long] = [await turnsFor(resultOf()), await turnsFor(longResult())];
    expect(short).toBeLessThan(10);
    expect(long).toBeGreaterThan(LINES / 4);
  });
});
