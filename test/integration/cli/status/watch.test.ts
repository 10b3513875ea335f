import type { RequestListener, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { runProgram } from '../../../../src/cli/program.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { memoryTerminal } from '../../../support/agent/memory-terminal.ts';
import { eventually } from '../../../support/eventually.ts';
import { servedBy } from '../../../support/servers/http-servers.ts';

const KEY = `vk_${'1'.repeat(32)}`;
const COUNTS = { failing: 0, degraded: 0, unknown: 0, passing: 2, paused: 0 };
const FAILING = {
  ...{ checkId: 'shop', name: 'Shop', checkType: 'URL', locations: ['office'], state: 'failing' },
  ...{ since: '2026-01-31T10:00:00.000Z', unknownReason: null, hasErrors: false },
  ...{ lastRunLocation: 'office', lastResponseTime: null, usualResponseTime: null },
  lastError: { code: 'CONNECT_REFUSED', message: 'refused', location: 'office' },
};

interface WatchedService {
  isDown: boolean;
  isBroken: boolean;
  readonly streams: ServerResponse[];
}

/** A service whose checks the test changes, and a terminal on which `status --watch` runs. */
async function watching(columns: { readonly isTTY?: boolean; readonly columns?: number }) {
  const streams: ServerResponse[] = [];
  const service: WatchedService = { isDown: false, isBroken: false, streams };
  const answer = (path: string): unknown => {
    if (path === '/v1/check-statuses') return service.isDown ? [FAILING] : [];
    if (path === '/v1/private-locations') return [];
    return service.isDown ? { ...COUNTS, failing: 1, passing: 1 } : COUNTS;
  };
  const listener: RequestListener = (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path === '/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write('retry: 2000\n\n');
      service.streams.push(response);
      return;
    }
    response.writeHead(service.isBroken ? 400 : 200, { 'content-type': 'application/json' });
    const error = { statusCode: 400, error: 'Bad Request', message: 'it is broken' };
    response.end(JSON.stringify(service.isBroken ? error : answer(path)));
  };
  const { terminal, stdout, stderr } = memoryTerminal(columns);
  const env = { SERVICE_URL: await servedBy(listener), API_KEY: KEY, NO_COLOR: '1' };
  const ended = runProgram(
    ['status', '--watch'],
    { ...terminal, env, clock: systemClock },
    () => {},
  );
  return {
    service,
    stdout,
    stderr,
    changed: () => service.streams.at(-1)?.write('event: check.status_changed\ndata: {}\n\n'),
    async end() {
      terminal.signals.emit('SIGINT');
      return ended;
    },
  };
}

it('draws the board again after an event, over the last one, until SIGINT', async () => {
  const { service, stdout, changed, end } = await watching({ isTTY: true, columns: 80 });
  await eventually(() => service.streams.length > 0 && stdout().includes('2 passing'));
  service.isDown = true;
  changed();
  await eventually(() => stdout().includes('1 failing'));
  const [first = '', ...others] = stdout().split('\u001b[H');
  expect(first).toBe('');
  const last = others.at(-1) ?? '';
  expect(last.endsWith('\u001b[J')).toBe(true);
  expect(last.replaceAll('\u001b[K', '')).toMatch(
    /^1 failing, 1 passing\n\nFAIL {2}Shop \(shop\) /,
  );
  expect(await end()).toBe(0);
});

it('prints only boards that differ from the last one if stdout is no terminal', async () => {
  const { service, stdout, changed, end } = await watching({});
  await eventually(() => service.streams.length > 0);
  expect(stdout()).toBe('');
  service.isDown = true;
  changed();
  await eventually(() => stdout() !== '');
  expect(stdout()).toMatch(/^failing\tshop\t.*\tShop\t\n$/);
  expect(await end()).toBe(0);
});

it('keeps the last board while the service does not answer, and says so', async () => {
  const { service, stdout, changed, end } = await watching({ isTTY: true, columns: 80 });
  await eventually(() => service.streams.length > 0 && stdout().includes('2 passing'));
  service.isBroken = true;
  changed();
  await eventually(() => stdout().includes('not current: it is broken'));
  expect(stdout().split('\u001b[H').at(-1)).toContain('2 passing');
  expect(await end()).toBe(0);
});
