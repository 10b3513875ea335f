import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openEvidence } from '../../../../src/agent/evidence/open-evidence.ts';
import { createSystemResolver } from '../../../../src/agent/net/dns/system-resolver.ts';
import { stubCapturer, stubTracer } from '../../../support/agent/evidence-parts.ts';
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

it('a search that does not end is given up, and a late tracer closed', async () => {
  let closed = 0;
  const close = (): void => {
    closed += 1;
  };
  const tracer = { ...stubTracer('at once'), close };
  const late = new AbortController();
  const { opened, told, clock } = opening(async () => {
    await once(late.signal, 'abort');
    return [tracer, stubCapturer(), 0];
  });
  await clock.advance(5000);
  expect((await opened).budget).toBeNull();
  expect(told()).toEqual([
    'warn: evidence is disabled: looking for tcpdump and traceroute took longer than 5 s',
  ]);
  late.abort();
  await eventually(() => closed === 1);
  expect(clock.pendingTimers).toBe(0);
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
