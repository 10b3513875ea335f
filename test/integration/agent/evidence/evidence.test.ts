import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Capturer } from '../../../../src/agent/evidence/capture/capture.ts';
import {
  type EvidenceAbout,
  EvidenceBudget,
} from '../../../../src/agent/evidence/evidence-budget.ts';
import type { Tracer } from '../../../../src/agent/evidence/traceroute/tracer.ts';
import { stubCapturer, stubTracer } from '../../../support/agent/fake-evidence.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const ENDPOINT = {
  hostname: 'shop.example',
  address: '192.0.2.7',
  port: 443,
  transport: 'tcp',
} as const;

function roomOf(tracer: Tracer, capturer: Capturer) {
  const clock = new FakeClock();
  const passes: string[] = [];
  const first = { address: '192.0.2.53', port: 53 };
  const second = { address: '2001:db8::53', port: 53 };
  const nameServers = () => ({ servers: [first, second] as const, timeoutMs: 5000, attempts: 2 });
  const onPass = (outcome: string): void => void passes.push(outcome);
  return {
    clock,
    passes,
    room: new EvidenceBudget({
      clock,
      tracer,
      capturer,
      capturesSecrets: false,
      nameServers,
      onPass,
    }),
  };
}

function about(fields: Partial<EvidenceAbout> = {}): EvidenceAbout {
  return { endpoint: ENDPOINT, repeat: async () => 'passed', ...fields };
}

/** Like an attempt at a silent target: ends only at its signal. */
function silence(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const end = (): void => resolve('did not end within its time');
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  });
}

const { signal: NEVER } = new AbortController();

describe('a diagnostic pass', () => {
  it('traces to the address that was tried, and captures its port alone', async () => {
    const [tracer, capturer] = [stubTracer('at once'), stubCapturer()];
    const { room } = roomOf(tracer, capturer);
    const found = await room.gather(about(), NEVER);
    expect(tracer.targets).toEqual([{ hostname: 'shop.example', address: '192.0.2.7' }]);
    expect(capturer.filters).toEqual([{ addresses: ['192.0.2.7'], port: 443, transport: 'tcp' }]);
    expect(found.traceroute?.resolvedIp).toBe('192.0.2.7');
    expect(found.captured?.packets).toBe(1);
    expect(found.notes[0]).toBe('traceroute to shop.example (192.0.2.7)');
    expect(found.notes.at(-1)).toBe('Captured 1 packets of a repeated attempt, which passed');
  });

  it('is about all name servers if the name has no address', async () => {
    const [tracer, capturer] = [stubTracer('at once'), stubCapturer()];
    const { room } = roomOf(tracer, capturer);
    const found = await room.gather(about({ endpoint: { ...ENDPOINT, address: null } }), NEVER);
    expect(tracer.targets).toEqual([{ hostname: '192.0.2.53', address: '192.0.2.53' }]);
    expect(capturer.filters).toEqual([
      { addresses: ['192.0.2.53', '2001:db8::53'], port: 53, transport: 'dns' },
    ]);
    expect(found.notes[0]).toBe(
      'The evidence is about the name servers, which were asked for shop.example',
    );
  });

  it('captures nothing if no attempt is repeated', async () => {
    const capturer = stubCapturer();
    const { room } = roomOf(stubTracer('at once'), capturer);
    const found = await room.gather(about({ repeat: null }), NEVER);
    expect(found).toMatchObject({ captured: null, traceroute: { hostname: 'shop.example' } });
    expect(capturer.filters).toEqual([]);
  });

  it('reports what is missing', async () => {
    const tracer = { ...stubTracer('at once'), lack: 'no sockets' };
    const capturer = { ...stubCapturer(), lack: 'no tcpdump' };
    const { room } = roomOf(tracer, capturer);
    expect(room.captures).toBe(false);
    expect(await room.gather(about(), NEVER)).toEqual({
      traceroute: null,
      captured: null,
      notes: ['No trace: no sockets', 'No capture: no tcpdump'],
    });
  });
});

describe('the bounds of a pass', () => {
  it('allow two passes at once; a third run goes on without one', async () => {
    const tracer = stubTracer('held');
    const { room, passes } = roomOf(tracer, stubCapturer());
    const first = [room.gather(about(), NEVER), room.gather(about(), NEVER)];
    const third = await room.gather(about(), NEVER);
    expect(third).toEqual({
      traceroute: null,
      captured: null,
      notes: ['No trace and no capture: those of 2 other runs were under way'],
    });
    expect(passes).toEqual(['made', 'made', 'busy']);
    tracer.release();
    await Promise.all(first);
    const next = room.gather(about(), NEVER);
    tracer.release();
    expect((await next).traceroute).not.toBeNull();
  });

  it('ends a silent target 10 s after its start, the start of the capture included', async () => {
    let listen = (): void => {};
    const capturer = stubCapturer(
      () =>
        new Promise((resolve) => {
          listen = resolve;
        }),
    );
    const { room, clock } = roomOf(stubTracer('at once'), capturer);
    const gathering = room.gather(about({ repeat: silence }), NEVER);
    await clock.advance(3000);
    listen();
    await eventually(() => clock.pendingTimers > 0);
    expect(clock.nextTimerInMs).toBe(7000);
    await clock.advance(7000);
    const { captured, notes } = await gathering;
    expect(captured).not.toBeNull();
    expect(notes.at(-1)).toMatch(/which did not end within its time$/);
    expect(capturer.open).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends at once at its signal, with the results so far', async () => {
    const [tracer, capturer] = [stubTracer('held'), stubCapturer()];
    const { room, clock } = roomOf(tracer, capturer);
    const stop = new AbortController();
    const gathering = room.gather(about({ repeat: silence }), stop.signal);
    await eventually(() => capturer.open === 1 && clock.pendingTimers === 1);
    stop.abort();
    expect((await gathering).captured).not.toBeNull();
    expect(clock.pendingTimers).toBe(0);
    expect(capturer.open).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it.each(['tracer', 'repeat'] as const)(
    'is given back after a fault of the %s',
    async (faulty) => {
      const capturer = stubCapturer();
      const tracer = stubTracer(faulty === 'tracer' ? 'faulty' : 'at once');
      const { room, clock, passes } = roomOf(tracer, capturer);
      const repeat = async (): Promise<string> => {
        if (faulty === 'repeat') throw new Error('a fault');
        return 'passed';
      };
      for (let pass = 0; pass < 3; pass += 1) {
        await expect(room.gather(about({ repeat }), NEVER)).rejects.toThrow('a fault');
      }
      expect(passes).toEqual(['made', 'made', 'made']);
      expect(capturer.open).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});
