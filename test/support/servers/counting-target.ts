import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { lastSlotAt, slotRuleOf } from '../../../src/model/schedule/slot-rule.ts';
import type { RunningService } from '../service/deployment.ts';

/** The shortest period of the checks that visit the target, in seconds. */
export const PERIOD_SECONDS = 10;

/** One run of a check, as its target saw it. */
export interface Visit {
  /** The check's name. */
  readonly name: string;
  readonly from: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/**
 * The target of TCP checks that send their name: it records each visit, answers with the visitor's
 * name and closes the connection, so that a test can compare actual runs with reported ones.
 */
export class CountingTarget {
  readonly visits: Visit[] = [];
  readonly #events = new EventEmitter();

  /** @param from the client */
  serve(socket: Socket, from: string): void {
    let line = '';
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (text: string) => {
      line += text;
      if (!line.endsWith('\n')) return;
      this.visits.push({ name: line.trimEnd(), from, atMs: Date.now() });
      socket.end(from);
      this.#events.emit('visit');
    });
  }

  /** Resolves at the visit that fulfils the condition, or at once. */
  async until(holds: (visits: readonly Visit[]) => boolean): Promise<void> {
    while (!holds(this.visits)) await once(this.#events, 'visit');
  }

  /** Resolves after this many more visits. */
  async more(count: number): Promise<void> {
    const enough = this.visits.length + count;
    await this.until(({ length }) => length >= enough);
  }

  /** Resolves at the first visit after the instant. */
  async after(instantMs: number): Promise<void> {
    await this.until((visits) => (visits.at(-1)?.atMs ?? 0) > instantMs);
  }
}

/** @returns the checks' ids by name */
export async function addVisitors(
  service: RunningService,
  { count, slug, port }: { readonly count: number; readonly slug: string; readonly port: number },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (let number = 0; number < count; number += 1) {
    const name = `check ${number}`;
    const request = { hostname: '127.0.0.1', port, data: `${name}\n` };
    const plan = { frequency: 0, frequencyOffset: PERIOD_SECONDS, privateLocations: [slug] };
    ids.set(name, await service.addCheck('tcp', { ...plan, name, request }));
  }
  return ids;
}

/** A visit with its slot. A run starts at most half a period late, or never. */
export interface SlotVisit extends Visit {
  readonly checkId: string;
  readonly slotMs: number;
}

export function slotVisits(
  visits: readonly Visit[],
  ids: ReadonlyMap<string, string>,
): readonly SlotVisit[] {
  return visits.map((visit) => {
    const checkId = ids.get(visit.name) ?? '';
    const rule = slotRuleOf(checkId, 0, PERIOD_SECONDS);
    return { ...visit, checkId, slotMs: lastSlotAt(rule, visit.atMs) };
  });
}
