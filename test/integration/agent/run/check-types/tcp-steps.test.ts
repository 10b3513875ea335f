import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Evaluator } from '../../../../../src/agent/assertions/evaluator.ts';
import type { CheckTypeRunners } from '../../../../../src/agent/run/check-types/check-type.ts';
import { tcpRunner } from '../../../../../src/agent/run/check-types/tcp.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { eventually } from '../../../../support/eventually.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { operatorSecretsOf } from '../../../../support/samples/secrets.ts';
import { listenTcp } from '../../../../support/servers/tcp-servers.ts';

const SECRET = 'kP7vx-Qm92hZ_tuLw4Rb';

async function run(onConnection: (socket: Socket) => void, request: object) {
  const server = await listenTcp(onConnection);
  onTestFinished(() => server.close());
  const secrets = await operatorSecretsOf({ TOKEN: SECRET });
  const fixture = runFixture({ clock: systemClock, parts: { secrets } });
  const whole = { hostname: '127.0.0.1', port: server.port, ...request };
  await fixture.run(checkOf('TCP', { doubleCheck: false, request: whole }));
  const [result] = fixture.results;
  const detail = result?.tcpCheckResult;
  if (detail === null || detail === undefined) throw new Error('no result of a TCP check');
  await server.allClosed();
  return { hasFailures: result?.hasFailures, detail, all: JSON.stringify(fixture.results) };
}

/** Greets, then answers each line in two pieces. */
const heard: string[] = [];
function mailServer(socket: Socket): void {
  heard.length = 0;
  socket.write('220 mail.test\r\n');
  socket.on('data', (data) => {
    heard.push(data.toString());
    socket.write('250-you said\r\n', () => void socket.write(`250 ${data.toString()}`));
  });
}

describe('the steps of a TCP check', () => {
  test('are made one after the other, each when the one before has what it expects', async () => {
    const steps = [
      { expect: '^220 ' },
      { send: 'EHLO a\r\n', expect: '(^|\\n)250 EHLO' },
      { send: 'NOOP\r\n', expect: '(^|\\n)250 NOOP' },
      { send: 'QUIT\r\n' },
    ];
    const { hasFailures, detail } = await run(mailServer, { steps });
    expect(detail.requestError).toBeNull();
    expect(hasFailures).toBe(false);
    expect(heard.join('')).toBe('EHLO a\r\nNOOP\r\nQUIT\r\n');
    expect(detail.response?.data).toContain('220 mail.test\r\n250-you said\r\n250 EHLO a\r\n');
    expect(detail.request.steps).toHaveLength(4);
  });

  test('have what they expect if the expression matches, whatever its groups do', async () => {
    const pop = (socket: Socket): void => void socket.write('+OK ready\r\n');
    const { hasFailures, detail } = await run(pop, { steps: [{ expect: '^\\+OK|^(220) ' }] });
    expect(detail.requestError).toBeNull();
    expect(hasFailures).toBe(false);
  });

  test('are followed by the assertions on all data', async () => {
    const assertions = [{ source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: '220 mail' }];
    const steps = [{ expect: '^220 ' }, { send: 'NOOP\r\n', expect: '250 NOOP' }];
    const { hasFailures, detail } = await run(mailServer, { steps, assertions });
    expect(hasFailures).toBe(false);
    expect(detail.assertions[0]?.error).toBeNull();
  });

  test('fail with what arrived instead, and send nothing more', async () => {
    const ends = (socket: Socket): void => void socket.end('554 not you\r\n');
    const steps = [{ expect: '^220 ' }, { send: 'EHLO a\r\n' }];
    const { hasFailures, detail } = await run(ends, { steps });
    expect(hasFailures).toBe(true);
    expect(detail.requestErrorCode).toBe('STEP_FAILED');
    expect(detail.requestError).toMatch(
      /did not send what step 1 expects: "554 not you\\r\\n" arrived, then the peer closed/,
    );
    expect(detail.response?.data).toBe('554 not you\r\n');
  });

  test('do not take the answer to an earlier step for that to a later one', async () => {
    const once = (socket: Socket): void => {
      socket.write('OK\n');
      socket.once('data', () => socket.end());
    };
    const steps = [{ expect: 'OK' }, { send: 'again\n', expect: 'OK' }];
    const { detail } = await run(once, { steps });
    expect(detail.requestError).toContain('what step 2 expects: nothing arrived');
  });

  test('have no verdict if the agent has too little CPU for their expressions', async () => {
    const ends = (socket: Socket): void => void socket.end('220 mail.test\r\n');
    const server = await listenTcp(ends);
    onTestFinished(() => server.close());
    const cutShort: Evaluator = {
      async evaluate(assertions, _sources, _signal, hooks = {}) {
        for (const each of assertions) hooks.onOutOfTime?.(false, each);
        return assertions.map((each) => ({ ...each, actual: null, error: 'too slow' }));
      },
      close: async () => {},
    };
    const TCP = tcpRunner({ evaluator: cutShort, clientCertificates: () => [] });
    const parts = { checkTypes: { TCP } as unknown as CheckTypeRunners };
    const fixture = runFixture({ clock: systemClock, parts });
    const steps = [{ expect: '^220 ' }];
    const request = { hostname: '127.0.0.1', port: server.port, steps };
    const stop = new AbortController();
    const ended = fixture.run(checkOf('TCP', { doubleCheck: false, request }), stop.signal);
    await eventually(() => fixture.starved > 0);
    stop.abort();
    await ended;
    expect(fixture.results).toEqual([]);
  });

  test('send and expect bytes', async () => {
    const binary = (socket: Socket): void => {
      socket.once('data', (data) => void socket.write(Buffer.from([0xff, ...data, 0x00])));
    };
    const steps = [{ format: 'HEX', send: '00 FE 80', expect: 'ff00fe80 00' }];
    const { hasFailures, detail } = await run(binary, { steps });
    expect(detail.requestError).toBeNull();
    expect(hasFailures).toBe(false);
  });

  test('are filled with variables, whose values are masked wherever they come back', async () => {
    const steps = [{ expect: '^220 ' }, { send: 'AUTH {{TOKEN}}\r\n', expect: `250 AUTH k` }];
    const { hasFailures, all } = await run(mailServer, { steps });
    expect(hasFailures).toBe(false);
    expect(heard.join('')).toBe(`AUTH ${SECRET}\r\n`);
    expect(all).not.toContain(SECRET);
    expect(all).toContain('AUTH ********');
  });
});
