import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openEvidence } from '../../../../src/agent/evidence/open-evidence.ts';
import { createSystemResolver } from '../../../../src/agent/net/dns/system/system-resolver.ts';
import { stubCapturer, stubTracer } from '../../../support/agent/fake-evidence.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';

type Look = NonNullable<Parameters<typeof openEvidence>[1]>;

function opening(look: Look, signal = new AbortController().signal) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const resolver = createSystemResolver({ clock });
  const opened = openEvidence(
    { clock, log, resolver, capturesSecrets: false, onPass() {}, signal },
    look,
  );
  const told = () => records().map(({ level, msg }) => `${level}: ${msg}`);
  return { opened, clock, told };
}

it('the start logs what is available, and captures only if they can be stored', async () => {
  const look: Look = async () => [stubTracer('at once'), stubCapturer(), 2];
  const { opened, told, clock } = opening(look);
  const { budget: room, logAvailability: tell } = await opened;
  expect(room?.captures).toBe(true);
  tell(false);
  expect(told()).toEqual([
    'warn: ended processes that a killed agent had left running',
    'info: tracing network failures',
  ]);
  tell(true);
  expect(told().at(-1)).toBe('info: capturing packets of network failures');
  expect(clock.pendingTimers).toBe(0);
});

const SEARCHING =
  'warn: the search for tcpdump and traceroute runs in parallel with the checks: until it ends, failures have no evidence';

/** A search that ends when it is asked to, and counts how often its tracer was closed. */
function slowSearch() {
  const found = new AbortController();
  let closed = 0;
  const close = (): void => {
    closed += 1;
  };
  const look: Look = async () => {
    await once(found.signal, 'abort');
    return [{ ...stubTracer('at once'), close }, stubCapturer(), 0];
  };
  return { look, end: () => found.abort(), closed: () => closed };
}

const TARGET = {
  endpoint: { hostname: 'a.test', address: '192.0.2.1', port: 1, transport: 'tcp' },
  repeat: null,
} as const;
const NOW = new AbortController().signal;

it('a search that takes longer goes on beside the checks, and evidence begins at its end', async () => {
  const { look, end } = slowSearch();
  const { opened, told, clock } = opening(look);
  await clock.advance(5000);
  const { budget, logAvailability: tell, close } = await opened;
  tell(true);
  expect(told()).toEqual([SEARCHING]);
  expect(budget?.captures).toBe(false);
  expect((await budget?.gather(TARGET, NOW))?.notes).toEqual([
    'No trace: the agent is still looking for tcpdump and traceroute',
  ]);
  end();
  await eventually(() => told().length === 3);
  expect(told().slice(1)).toEqual([
    'info: tracing network failures',
    'info: capturing packets of network failures',
  ]);
  expect(budget?.captures).toBe(true);
  expect((await budget?.gather(TARGET, NOW))?.traceroute?.destinationReached).toBe(true);
  expect(clock.pendingTimers).toBe(0);
  close();
});

it('a search that does not end is given up after 10 minutes, and a late tracer closed', async () => {
  const { look, end, closed } = slowSearch();
  const { opened, told, clock } = opening(look);
  await clock.advance(5000);
  const { budget } = await opened;
  await clock.advance(595_000);
  expect(told()).toEqual([
    SEARCHING,
    'warn: evidence is disabled: looking for tcpdump and traceroute took longer than 10 min',
  ]);
  end();
  await eventually(() => closed() === 1);
  expect(budget?.captures).toBe(false);
  expect(clock.pendingTimers).toBe(0);
});

it('the end of the agent cancels a search that goes on, and a late tracer is closed', async () => {
  const { look, end, closed } = slowSearch();
  const { opened, told, clock } = opening(look);
  await clock.advance(5000);
  (await opened).close();
  await eventually(() => clock.pendingTimers === 0);
  end();
  await eventually(() => closed() === 1);
  expect(told()).toEqual([SEARCHING]);
});

it('a search does not delay the stop of the agent', async () => {
  const { opened, told, clock } = opening(() => new Promise(() => {}), AbortSignal.abort());
  expect((await opened).budget).toBeNull();
  expect(told()).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

it('a search that throws leaves the agent without evidence', async () => {
  const { opened, told } = opening(() => Promise.reject(new Error('a fault')));
  expect((await opened).budget).toBeNull();
  expect(told()).toEqual(['error: evidence is disabled: a fault']);
});
