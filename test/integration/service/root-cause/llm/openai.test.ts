import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { readProxies } from '../../../../../src/runtime/net/proxy/proxy-variables.ts';
import type { AnalysisInput } from '../../../../../src/service/root-cause/analysis-input.ts';
import { createOpenAiProvider } from '../../../../../src/service/root-cause/llm/openai.ts';
import type { Analysed } from '../../../../../src/service/root-cause/provider.ts';
import type { ModelConfig } from '../../../../../src/service/root-cause/root-cause-config.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { ASSERTION } from '../../../../support/samples/http-results.ts';
import {
  answered,
  caseOf,
  checkOf,
  tlsWith,
} from '../../../../support/samples/root-cause-cases.ts';
import { encodingsOf } from '../../../../support/samples/secret-encodings.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import {
  ANALYSIS,
  answering,
  type ModelServer,
  replying,
  startModelServer,
} from '../../../../support/servers/model-server.ts';
import { refusingPort } from '../../../../support/servers/tcp-servers.ts';

const NEVER = new AbortController().signal;
const FILE = caseOf(answered({ status: 500, body: 'Oh no', bodyEncoding: 'text' }));

describe('a model behind an OpenAI-compatible API', () => {
  let server: ModelServer;
  const open: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    server = await startModelServer();
    open.push(server.close);
  });
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });

  function provider(
    config: Partial<ModelConfig> = {},
    parts: Partial<Parameters<typeof createOpenAiProvider>[0]> = {},
  ) {
    const made = createOpenAiProvider({
      clock: systemClock,
      config: {
        url: server.url,
        apiKey: 'key-of-the-model',
        model: 'a-model',
        timeoutMs: 10_000,
        dailyLimit: 10,
        ...config,
      },
      ...parts,
    });
    open.unshift(made.close);
    return made;
  }

  it('is asked through the proxy', async () => {
    const proxy = await httpProxy();
    const proxies = readProxies({ HTTP_PROXY: proxy.url() });
    expect(await provider({}, { proxies }).analyse(FILE, NEVER)).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([
      { method: 'POST', target: `${server.url}/chat/completions` },
    ]);
  });

  it('is not asked while the proxy is away, which the problem says', async () => {
    const away = await refusingPort();
    open.push(() => away.close());
    const proxies = readProxies({ HTTP_PROXY: `http://ann:s3cret@127.0.0.1:${away.port}` });
    const clock = new FakeClock();
    const asked = provider({}, { proxies, clock, random: () => 0.5 }).analyse(FILE, NEVER);
    for (const waitMs of [750, 1500]) {
      await eventually(() => clock.nextTimerInMs === waitMs);
      await clock.advance(waitMs);
    }
    expect(await asked).toEqual({
      ok: false,
      problem:
        'the model could not be asked (no connection to the proxy of HTTP_PROXY: the connection was refused (ECONNREFUSED)), 3 times',
    });
    expect(server.requests).toEqual([]);
  });

  it('is asked for JSON, and its analysis is used', async () => {
    const made = await provider().analyse(FILE, NEVER);
    expect(made).toEqual({
      ok: true,
      model: 'a-model',
      analysis: {
        ...ANALYSIS,
        evidence: [
          {
            description: 'The status is 500.',
            artifacts: [{ name: '/v1/check-results/shop/result-1', type: 'check-result' }],
          },
        ],
      },
    });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/base/v1/chat/completions',
      headers: { authorization: 'Bearer key-of-the-model', 'content-type': 'application/json' },
      json: { model: 'a-model', response_format: { type: 'json_object' } },
    });
    const [system, user] = request?.json.messages ?? [];
    expect(system.role).toBe('system');
    const brief = JSON.parse(user.content);
    expect(brief).toMatchObject({
      check: { type: 'URL', target: 'https://shop.test' },
      answerStart: 'Oh no',
      analysisByRules: { classification: 'SERVER_ERROR' },
    });
  });

  it('is sent no key where there is none', async () => {
    await provider({ apiKey: null }).analyse(FILE, NEVER);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['no JSON', 'I think it is the database', 'is not a JSON object of that form'],
    ['a list', '[]', 'is not a JSON object of that form'],
    ['a field missing', { ...ANALYSIS, rootCause: undefined }, 'is off at rootCause'],
    ['a field empty', { ...ANALYSIS, codeFix: '' }, 'is off at codeFix'],
    ['a text too long', { ...ANALYSIS, userImpact: 'x'.repeat(5000) }, 'is off at userImpact'],
    [
      'a link that runs code',
      { ...ANALYSIS, referenceLinks: [{ url: 'javascript:alert(1)', title: 'x' }] },
      'is off at referenceLinks.0.url',
    ],
    ['too much evidence', { ...ANALYSIS, evidence: Array(100).fill({}) }, 'is off at evidence'],
  ])('that answers %s gives no analysis, and is not retried', async (_name, analysis, problem) => {
    server.reply = answering(analysis);
    const made = await provider().analyse(FILE, NEVER);
    expect(made).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['a refusal', replying(401, '{"error":"hush"}'), 'answered with status 401'],
    ['a redirect', replying(302, '', { location: '/elsewhere' }), 'answered with status 302'],
    ['another form', replying(200, '{"choices":[]}'), 'is not a chat completion'],
    ['far too much', replying(200, 'x'.repeat(300_000)), 'more than 262144 bytes'],
  ])('that answers with %s gives no analysis', async (_name, reply, problem) => {
    server.reply = reply;
    const made = await provider().analyse(FILE, NEVER);
    expect(made).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(made)).not.toContain('hush');
    expect(server.requests).toHaveLength(1);
  });

  it('that is overloaded is asked again with growing delays, three times at most', async () => {
    const clock = new FakeClock();
    server.reply = (request, response, number) =>
      replying(number === 1 ? 429 : 503)(request, response, number);
    const asked = provider({}, { clock, random: () => 0.5 }).analyse(FILE, NEVER);
    // The time limit of a request is longer than any wait between them.
    const waits: number[] = [];
    for (const number of [1, 2]) {
      await eventually(
        () => server.requests.length === number && (clock.nextTimerInMs ?? 1e9) < 9e3,
      );
      waits.push(clock.nextTimerInMs ?? 0);
      await clock.advance(waits.at(-1) ?? 0);
    }
    expect(await asked).toEqual({
      ok: false,
      problem: 'the model answered with status 503, 3 times',
    });
    expect(waits).toEqual([750, 1500]);
    expect(server.requests).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that sends a Retry-After is asked again after it, with jitter', async () => {
    const clock = new FakeClock();
    server.reply = (request, response, number) =>
      (number === 1 ? replying(429, '', { 'retry-after': '7' }) : answering(ANALYSIS))(
        request,
        response,
        number,
      );
    const asked = provider({ timeoutMs: 60_000 }, { clock, random: () => 0.5 }).analyse(
      FILE,
      NEVER,
    );
    await eventually(() => clock.nextTimerInMs === 7250);
    await clock.advance(7250);
    expect(await asked).toMatchObject({ ok: true });
  });

  it.each([
    { header: '45', waitMs: 45_250 },
    { header: 'Thu, 01 Jan 2026 00:00:45 GMT', waitMs: 45_250 },
    { header: '3600', waitMs: 60_250 },
  ])(
    'that sends Retry-After $header is asked again after $waitMs ms',
    async ({ header, waitMs }) => {
      const clock = new FakeClock();
      server.reply = (request, response, number) =>
        (number === 1 ? replying(503, '', { 'retry-after': header }) : answering(ANALYSIS))(
          request,
          response,
          number,
        );
      const parts = { clock, random: () => 0.5 };
      const asked = provider({ timeoutMs: 90_000 }, parts).analyse(FILE, NEVER);
      await eventually(() => clock.nextTimerInMs === waitMs);
      await clock.advance(waitMs - 1);
      expect(server.requests).toHaveLength(1);
      await clock.advance(1);
      expect(await asked).toMatchObject({ ok: true });
      expect(server.requests).toHaveLength(2);
    },
  );

  it('that does not answer is given up', async () => {
    const clock = new FakeClock();
    server.reply = () => {};
    const asked = provider({ timeoutMs: 60_000 }, { clock }).analyse(FILE, NEVER);
    const steps = async (): Promise<Analysed> => {
      for (const number of [1, 2, 3]) {
        await eventually(() => server.requests.length === number);
        await clock.advance(60_000);
        if (number === 3) break;
        await eventually(() => (clock.nextTimerInMs ?? 1e9) <= 2000);
        await clock.advance(clock.nextTimerInMs ?? 0);
      }
      return asked;
    };
    expect(await steps()).toEqual({
      ok: false,
      problem: 'the model did not answer within 60 s, 3 times',
    });
  });

  it('that cannot be reached is given up, with the reason', async () => {
    const clock = new FakeClock();
    const asked = provider({ url: 'http://127.0.0.1:1/v1' }, { clock, random: () => 0.5 }).analyse(
      FILE,
      NEVER,
    );
    for (const delayMs of [750, 1500]) {
      await eventually(() => clock.nextTimerInMs === delayMs);
      await clock.advance(delayMs);
    }
    expect(await asked).toMatchObject({ problem: expect.stringContaining('ECONNREFUSED') });
  });

  it('is left alone as soon as the service stops', async () => {
    const stopping = new AbortController();
    server.reply = () => stopping.abort();
    const made = await provider().analyse(FILE, stopping.signal);
    expect(made.ok).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  describe('is never sent a secret', () => {
    const SECRETS = {
      account: 'var "quoted" & s3cret/+=é',
      password: 'basic-pa55 word',
      header: 'tok:en-7731-zz',
      url: 'p@ss-in-url9',
      query: 'query-value-88',
      bodyField: 'log1n-secret!',
    };
    const check = checkOf({
      checkType: 'API',
      request: {
        url: `https://bob:${encodeURIComponent(SECRETS.url)}@shop.test/a?key=${SECRETS.query}`,
        method: 'POST',
        headers: [{ key: 'X-Custom', value: SECRETS.header, locked: true }],
        basicAuth: { username: 'bob', password: SECRETS.password },
        bodyType: 'JSON',
        body: JSON.stringify({ password: SECRETS.bodyField }),
      },
    });
    const LOOKALIKES = {
      'an API key': `vk_${'0f'.repeat(16)}`,
      'a location key': `pl_${'a1'.repeat(16)}`,
      'an access key id': 'AKIAIOSFODNN7EXAMPLE',
      'a secret access key': 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'a JWT': `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIiOiIxMjM0NTY3ODkwIn0'}.SflKxwRJSMeKKF2QT4fw`,
      'a private key':
        '-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkq\nhkiG9w0B\n-----END PRIVATE KEY-----',
      'a bearer token': 'Bearer abcdefghij',
      'a cookie': 'Set-Cookie: sid=cookiecookie',
    };

    /** A result with the text in every field that a target can fill. */
    function fileWith(text: string): AnalysisInput {
      const { apiCheckResult } = answered(
        {
          status: 500,
          statusText: text,
          body: `<p>${text}</p>`,
          bodyEncoding: 'text',
          url: `https://shop.test/${encodeURIComponent(text)}?key=${SECRETS.query}`,
          headers: { server: text, via: text, 'x-other': text, 'retry-after': text },
          redirects: [{ status: 302, url: `https://bob:${encodeURIComponent(text)}@shop.test/` }],
          tls: tlsWith({ subject: text, issuer: text, subjectAltNames: [text] }),
        },
        {
          requestError: `It said ${text}`,
          assertions: [
            { ...ASSERTION, property: text, target: text, actual: text, error: `got ${text}` },
          ],
          jobLog: [{ time: 0, level: 'warn', msg: `log ${text}` }],
          jobAssets: [`/v1/artifacts/${encodeURIComponent(text)}`],
        },
      );
      return caseOf(
        { apiCheckResult: apiCheckResult ?? null, runLocation: text },
        {
          check,
          surroundings: {
            lookedBackMs: 1,
            neighbours: [{ id: 'n', name: text, checkType: 'URL', failing: true, slotMs: 0 }],
            others: [{ location: text, slotMs: 0, passed: true, code: text, status: text }],
            passed: [
              {
                slotMs: 0,
                responseTimeMs: 1,
                phases: {},
                address: text,
                status: text,
                fingerprint: text,
                issuer: text,
              },
            ],
          },
        },
      );
    }

    /** The sent texts as they are, and with their JSON unescaped once and twice. */
    function sent(): readonly string[] {
      const bytes = Buffer.concat(server.requests.map((request) => request.bytes));
      const texts = server.requests.flatMap(({ json }) =>
        json.messages.flatMap(({ content }: { content: string }) => [content, unescaped(content)]),
      );
      return [bytes.toString('latin1'), bytes.toString('utf8'), ...texts];
    }

    function unescaped(content: string): string {
      const texts: string[] = [];
      const collect = (value: unknown): void => {
        if (typeof value === 'string') texts.push(value);
        else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
      };
      try {
        collect(JSON.parse(content));
      } catch {
        texts.push(content);
      }
      return texts.join('\n');
    }

    it.each(Object.entries(SECRETS))(
      'that is known (%s), in any encoding',
      async (_name, secret) => {
        const secretsOf = async () => [SECRETS.account];
        const encodings = Object.entries(encodingsOf(secret));
        const all = encodings.map(([, encoded]) => encoded).join(' | ');
        const made = await provider({}, { secretsOf }).analyse(fileWith(all), NEVER);
        expect(made).toMatchObject({ ok: true });
        const texts = sent();
        for (const [encoding, encoded] of encodings) {
          for (const text of texts) expect(text.includes(encoded), encoding).toBe(false);
        }
        expect(texts.join('\n')).toContain('********');
      },
    );

    it.each(Object.entries(LOOKALIKES))('that looks like %s', async (_name, secret) => {
      await provider().analyse(fileWith(`before ${secret} after`), NEVER);
      const core = secret.replace(/^\S+ (sid=)?|^-----.*?-----\n/, '').slice(0, 14);
      for (const text of sent()) expect(text).not.toContain(core);
      expect(sent().join('\n')).toContain('before');
    });

    it('that the end of the kept body or of what is sent cuts in two', async () => {
      const secret = 'the-very-long-secret-of-the-account-0123456789';
      const secretsOf = async () => [secret];
      for (const at of [2030, 2040, 10_200, 10_230]) {
        const body = `${'. '.repeat(at / 2)}${secret} ${secret}`.slice(0, 10_240);
        const file = caseOf(
          answered({ status: 500, body, bodyEncoding: 'text', bodyCut: true, bodyBytes: 20_000 }),
        );
        await provider({}, { secretsOf }).analyse(file, NEVER);
      }
      for (const text of sent()) expect(text).not.toContain('the-very');
    });

    it('where they cannot be read: then nothing is sent', async () => {
      const secretsOf = async () => Promise.reject(new Error('no key'));
      const made = await provider({}, { secretsOf }).analyse(FILE, NEVER);
      expect(made).toEqual({ ok: false, problem: expect.stringContaining('was not asked') });
      expect(server.requests).toHaveLength(0);
    });

    it('nor more than the first 2 KB of a body, nor the request', async () => {
      const body = `${'0123 '.repeat(2000)}the end`;
      const file = caseOf(
        {
          apiCheckResult: {
            ...(answered({ status: 500, body, bodyEncoding: 'text' }).apiCheckResult ??
              Promise.reject()),
            request: {
              method: 'POST',
              url: 'https://shop.test/',
              data: 'body of the request',
              headers: { 'x-any': 'header of the request' },
              params: { q: 'parameter of the request' },
            },
          } as never,
        },
        { check },
      );
      await provider().analyse(file, NEVER);
      const text = sent().join('\n');
      expect(text).not.toMatch(/the end|of the request/);
      const told = JSON.parse(server.requests[0]?.json.messages[1].content).answerStart;
      expect(Buffer.byteLength(told)).toBe(2048);
    });
  });
});
