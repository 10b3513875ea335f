import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProbeContext } from '../../../../../src/agent/probes/probe.ts';
import { MASK } from '../../../../../src/model/credentials/mask.ts';
import { createScrubber } from '../../../../../src/scrub/scrubber.ts';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { createAuthority } from '../../../../support/servers/certificates.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { listenTls } from '../../../../support/servers/tls-servers.ts';

const SECRET = 'sk-live-kP7vx-Qm92hZ-tuLw4Rb';
const ODD_SECRET = 'pässwort-kP7vx-Qm92hZ';
const SCRUBBER = createScrubber([SECRET, ODD_SECRET]);

function scrubbing(): ProbeContext {
  return { ...makeContext(), scrub: (text) => SCRUBBER.text(text) };
}

/** The secret where the limit cuts its last character, and more text behind it. */
function cutAt(maxChars: number): string {
  return `${'x'.repeat(maxChars - SECRET.length + 1)}${SECRET}${'y'.repeat(50)}`;
}

/** The answer in a result, all of which is scrubbed once more. */
async function shownOf(head: string, url = '', proxied = false): Promise<string> {
  const server = await rawServer(answering(Buffer.from(head)));
  const options = { context: scrubbing(), ...(proxied ? { proxyUrl: server.url() } : {}) };
  const outcome = await probe(url === '' ? server.url() : url, options);
  return SCRUBBER.text(JSON.stringify([outcome.response, outcome.failure]));
}

describe('a secret that a limit cuts in two is masked before', () => {
  test.each([
    ['a reason phrase', `HTTP/1.1 200 ${cutAt(500)}\r\nContent-Length: 0\r\n\r\n`],
    [
      'the name of a content coding',
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip, ${cutAt(94)},br,br,br,br,br\r\nContent-Length: 2\r\n\r\nok`,
    ],
    ['an answer that is not HTTP', cutAt(40)],
  ])('in %s', async (_, head) => {
    const shown = await shownOf(head);
    expect(shown).toContain(MASK);
    expect(shown).not.toContain(SECRET.slice(0, 8));
  });

  test.each([
    ['a refusal of a tunnel', 'https://good.test:1/', `HTTP/1.1 403 ${cutAt(100)}\r\n\r\n`],
    ['a 407 to a tunnel', 'https://good.test:1/', `HTTP/1.1 407 ${cutAt(100)}\r\n\r\n`],
    ['a 407 to a request', 'http://good.test:1/', `HTTP/1.1 407 ${cutAt(100)}\r\n\r\n`],
    ['a long 407', 'http://good.test:1/', `HTTP/1.1 407 ${'x'.repeat(90)}${cutAt(500)}\r\n\r\n`],
  ])("in a proxy's reason phrase: %s", async (_, url, head) => {
    const shown = await shownOf(head, url, true);
    expect(shown).toContain('xx');
    expect(shown).not.toContain(SECRET.slice(0, 8));
  });

  test("in the names of a server's certificate", async () => {
    const authority = await createAuthority();
    const { length } = SECRET;
    const commonName = 'c'.repeat(997 - length + 1) + SECRET;
    const names = ['a.test', `${'n'.repeat(1000 - length + 1)}${SECRET}${'n'.repeat(50)}`];
    const identity = await authority.issue({ commonName, names });
    const server = await listenTls(identity, {}, '127.0.0.1', (socket) =>
      socket.once('data', () => socket.end(response('200 OK', 'fine'))),
    );
    onTestFinished(() => server.close());
    const url = `https://other.test:${server.port}/`;
    for (const skipSSL of [true, false]) {
      const { failure, tls } = await probe(url, { request: { skipSSL }, context: scrubbing() });
      const shown = JSON.stringify([failure, tls]);
      expect(tls?.certificate?.subject).toContain('ccc');
      expect(tls?.certificate?.subjectAltNames).toHaveLength(2);
      expect(shown).toContain(MASK);
      expect(shown).not.toContain(SECRET.slice(0, 8));
    }
  });
});

describe('a secret with characters that are not shown is masked before they are replaced', () => {
  test.each([
    ['a refusal of a tunnel', 'https://good.test:1/', `HTTP/1.1 403 ${ODD_SECRET}\r\n\r\n`],
    ['a 407 to a request', 'http://good.test:1/', `HTTP/1.1 407 ${ODD_SECRET}\r\n\r\n`],
  ])("in a proxy's reason phrase: %s", async (_, url, head) => {
    expect(await shownOf(head, url, true)).toContain(`(${MASK})`);
  });

  test('in an answer that is not HTTP', async () => {
    expect(await shownOf(`SSH ${ODD_SECRET}\r\n`)).toContain(`SSH ${MASK}`);
  });
});
