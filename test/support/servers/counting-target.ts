import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { lastSlotAt, slotRuleOf } from '../../../src/model/schedule/frequency.ts';
import type { RunningService } from '../service/deployment.ts';

/** Of all checks that visit it: the shortest there is, in seconds. */
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
 * The target of TCP checks that send their name: it notes each visit, answers with the visitor's
 * name and hangs up. So actual runs can be compared with reported ones.
 */
export class CountingTarget {
  readonly visits: Visit[] = [];
  readonly #events = new EventEmitter();

  /** @param from who is at the other end */
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

  /** Resolves at the visit with which the condition holds, or at once. */
  async until(holds: (visits: readonly Visit[]) => boolean): Promise<void> {
    while (!holds(this.visits)) await once(this.#events, 'visit');
  }

  /** Resolves when so many more have come. */
  async more(count: number): Promise<void> {
    const enough = this.visits.length + count;
    await this.until(({ length }) => length >= enough);
  }

  /** Resolves at the first visit after the instant. */
  async after(instantMs: number): Promise<void> {
    await this.until((visits) => (visits.at(-1)?.atMs ?? 0) > instantMs);
  }
}

/** @returns the checks' ids by their names */
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

/** A visit, with the slot that it was for. Runs start late by half a period at most, else never. */
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
