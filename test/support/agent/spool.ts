import { openSpool, type SpoolOptions } from '../../../src/agent/spool/open-spool.ts';
import type {
  Spool,
  SpoolDropReason,
  SpooledRecord,
  SpoolKind,
  SpoolRecord,
  SpoolSlots,
} from '../../../src/agent/spool/spool.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import type { FakeClock } from '../fake-clock.ts';
import { captureLog } from '../log-capture.ts';

/** A record whose body contains its id and has at least this many bytes. */
export function recordFor(
  id: string,
  { kind = 'result' as SpoolKind, bytes = 100, atMs = Date.now() } = {},
): SpoolRecord {
  return { kind, id, atMs, body: Buffer.from(JSON.stringify({ id }).padEnd(bytes)) };
}

export interface Dropped {
  readonly kind: SpoolKind;
  readonly count: number;
  readonly reason: SpoolDropReason;
}

/** A spool that writes at once, its drops and losses, and its log. */
export async function openTestSpool(options: SpoolOptions, clock: Clock = systemClock) {
  const { log, records } = captureLog();
  const dropped: Dropped[] = [];
  const lost: SpoolSlots[] = [];
  const spool = await openSpool(
    { commitDelayMs: 0, ...options },
    {
      clock,
      log,
      onDropped: (kind, count, reason) => dropped.push({ kind, count, reason }),
      onLost: (slots) => lost.push(slots),
    },
  );
  return { spool, dropped, lost, records };
}

/** Reads all records, batch by batch. */
export async function readAll(spool: Spool, maxBytes = 64 * 1024): Promise<SpooledRecord[]> {
  const all: SpooledRecord[] = [];
  for (;;) {
    const batch = await spool.batch(maxBytes, all.at(-1)?.key);
    if (batch.length === 0) return all;
    all.push(...batch);
  }
}

export async function idsOf(spool: Spool): Promise<string[]> {
  return (await readAll(spool)).map(({ id }) => id);
}

/** Puts and commits on a manual clock. */
export async function putAt(spool: Spool, clock: FakeClock, record: SpoolRecord): Promise<void> {
  spool.put(record);
  const done = spool.committed();
  await clock.advance(0);
  await done;
}
