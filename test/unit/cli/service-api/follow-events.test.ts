import { expect, it } from 'vitest';
import { followEvents } from '../../../../src/cli/service-api/follow-events.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A client whose streams are given by the test, one for each attempt; then there are none. */
function follow(...streams: readonly ((signal: AbortSignal) => AsyncIterable<Uint8Array>)[]) {
  const clock = new FakeClock();
  const ended = new AbortController();
  const seen = { attempts: 0, changes: 0 };
  const openEvents = async (signal: AbortSignal) => {
    seen.attempts += 1;
    return streams[seen.attempts - 1]?.(signal) ?? null;
  };
  const matters = (kind: string): boolean => kind.startsWith('check.');
  const onChange = (): void => {
    seen.changes += 1;
  };
  const following = followEvents(
    { client: { openEvents }, clock, matters, onChange },
    ended.signal,
  );
  const end = async (): Promise<void> => {
    ended.abort();
    await following;
    expect(clock.pendingTimers).toBe(0);
  };
  return { clock, seen, end };
}

/** Chunks that arrive at once, then nothing until the signal aborts. */
const open = (...chunks: readonly string[]) =>
  async function* (signal: AbortSignal): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk);
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
const event = (kind: string): string => `id: 1\nevent: ${kind}\ndata: {"kind":"check.no"}\n\n`;

it('reports the beginning of a stream, and each event that matters, however it is cut', async () => {
  const [start, rest] = [event('check.updated').slice(0, 12), event('check.updated').slice(12)];
  const { clock, seen, end } = follow(
    open('retry: 2000\n\n', event('check.created'), event('alert.created'), start, rest),
  );
  await clock.advance(0);
  expect(seen).toEqual({ attempts: 1, changes: 3 });
  await end();
});

it('makes its caller poll if there is no stream, at growing intervals', async () => {
  const { clock, seen, end } = follow();
  await clock.advance(2_000);
  expect(seen.changes).toBe(1);
  await clock.advance(600_000);
  const soon = seen.changes;
  expect(soon).toBeGreaterThan(10);
  await clock.advance(600_000);
  expect(seen.changes - soon).toBeLessThanOrEqual(20);
  expect(seen.attempts).toBe(seen.changes + 1);
  await end();
});

it('begins another stream after one that is silent', async () => {
  const { clock, seen, end } = follow(open(), open());
  await clock.advance(39_000);
  expect(seen).toEqual({ attempts: 1, changes: 1 });
  await clock.advance(4_000);
  // Before the next attempt, and when its stream begins.
  expect(seen).toEqual({ attempts: 2, changes: 3 });
  await end();
});
