import { expect, it } from 'vitest';
import { warmUp } from '../../../../src/agent/run/warm-up.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const SERVER = 'TCPServerWrap';

it('warms up without log lines and leaves nothing open', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const timers = clock.pendingTimers;
  const servers = openServers();
  await warmUp(fixture.parts, new AbortController().signal);
  expect(fixture.results).toEqual([]);
  expect(fixture.logRecords()).toEqual([]);
  expect(clock.pendingTimers).toBe(timers);
  // The system's handle goes an iteration of the event loop after the server.
  await eventually(() => openServers() === servers);
});

it('does not keep a stopping agent', async () => {
  const fixture = runFixture({ clock: new FakeClock() });
  await warmUp(fixture.parts, AbortSignal.abort());
  expect(fixture.logRecords()).toMatchObject([{ level: 'debug', msg: 'the warm-up failed' }]);
});

function openServers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === SERVER).length;
}
