import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import { createAssigner } from '../../../../../src/service/agents/assignment/assigner.ts';
import { PATHS } from '../../../../../src/wire/v1/limits.ts';
import { silentLog } from '../../../../support/database/databases.ts';
import {
  type Answer,
  openSender,
  type Sender,
  type Sent,
  wrongIn,
} from '../../../../support/hostile/request-sender.ts';
import type { ResultsFixture } from '../../../../support/service/results-fixture.ts';
import { POLL_REQUEST, type RequestKind, resultOf } from './messages.ts';

const PATH_OF: Readonly<Record<RequestKind, string>> = {
  'poll-request': PATHS.poll,
  'results-request': PATHS.results,
  'release-request': PATHS.release,
  'errors-request': PATHS.errors,
  'artifact-request': PATHS.artifacts,
  'handover-request': PATHS.handovers,
};

/** A request in wire format, except for its key. */
export interface WireRequest {
  readonly kind: RequestKind;
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes. */
  readonly body: Buffer;
  /** The key of the location, or another text. */
  readonly key: string | null;
}

/** Longer than any poll is held. */
const HOLD_MS = 30_000;
/** Without an answer after this many event loop iterations, it may be a held poll. */
const PATIENT_TURNS = 100;
const HONEST = [
  ['honest-berlin', 'berlin'],
  ['honest-oslo', 'oslo'],
] as const;

/**
 * A service that gets fuzzed requests in the name of one location, beside honest agents, whose
 * leases must stay unchanged, and honest results, which must each be stored once.
 */
export class ServiceLane {
  readonly #fixture: ResultsFixture;
  readonly #sender: Sender;
  readonly #sent = new Set<string>();
  #results = 10;
  #leases: unknown = null;

  static async open(fixture: ResultsFixture): Promise<ServiceLane> {
    const lane = new ServiceLane(fixture, openSender(fixture.running.app.port));
    const { store, clock } = fixture;
    for (const [agentId, slug] of HONEST) await lane.#poll(agentId, slug);
    await createAssigner({ store, clock, log: silentLog() }).pass();
    for (const [agentId, slug] of HONEST) {
      expect((await lane.#poll(agentId, slug)).json).toMatchObject({
        upsert: [{ checkId: 'shop' }],
      });
    }
    await lane.runMixed([], false);
    lane.#leases = await lane.#leasesNow();
    return lane;
  }

  private constructor(fixture: ResultsFixture, sender: Sender) {
    this.#fixture = fixture;
    this.#sender = sender;
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }

  /** Any request: the service has no fault, and answers with an error in its form. */
  async run({ kind, headers, body, key }: WireRequest): Promise<string> {
    const location = key === null ? this.#fixture.berlin.key : key;
    const sent = { method: 'POST', path: PATH_OF[kind], key: location, headers, body };
    const answer = await this.#send(sent);
    const wrong = wrongIn(sent, answer);
    if (wrong.length > 0) throw new Error(`the answer ${wrong.join(', ')}`);
    return `${Math.floor(answer.status / 100)}xx`;
  }

  /** A good result among arbitrary records, sometimes a repeated one. */
  async runMixed(garbage: readonly unknown[], isAgain: boolean): Promise<string> {
    if (!isAgain) this.#results += 1;
    const good = resultOf(this.#results);
    const results = [...garbage.slice(0, 2), good, ...garbage.slice(2)];
    const answer = await this.#send({
      method: 'POST',
      path: PATHS.results,
      key: this.#fixture.berlin.key,
      headers: { 'x-agent-protocol': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: 'fuzz', epoch: 1, results, missed: [] }),
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json.accepted).toContain(good.id);
    this.#sent.add(good.id);
    return 'mixed';
  }

  /** After all cases: compares the stored results and the honest agents' assignments. */
  async expectUnharmed(): Promise<void> {
    const { store, running } = this.#fixture;
    const stored = await store.query(
      'select id, count(*)::int as times from check_results where id = any($1) group by id',
      [[...this.#sent]],
    );
    expect(stored.length, 'good results').toBe(this.#sent.size);
    expect(stored.filter(({ times }) => times !== 1)).toEqual([]);
    expect(await this.#leasesNow()).toEqual(this.#leases);
    for (const [agentId, slug] of HONEST) {
      const { json } = await this.#poll(agentId, slug);
      expect(json).toMatchObject({ epoch: 1, upsert: [{ checkId: 'shop' }] });
    }
    const errors = running.app.logs.records().filter(({ level }) => level === 'error');
    expect(errors).toEqual([]);
  }

  #leasesNow(): Promise<unknown> {
    const { store } = this.#fixture;
    const ids = HONEST.map(([agentId]) => agentId);
    return Promise.all([
      store.query('select * from agents where id = any($1) order by id', [ids]),
      store.query('select * from assignments where agent_id = any($1) order by agent_id', [ids]),
    ]);
  }

  #poll(agentId: string, slug: 'berlin' | 'oslo'): Promise<Answer> {
    const request = { ...POLL_REQUEST, agentId, instanceId: `${agentId}-1`, done: [], refused: [] };
    return this.#send({
      method: 'POST',
      path: PATHS.poll,
      key: this.#fixture[slug].key,
      headers: { 'x-agent-protocol': '1', 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
  }

  async #send(sent: Sent): Promise<Answer> {
    const { clock } = this.#fixture;
    let isOver = false;
    const answer = this.#sender.send(sent).finally(() => {
      isOver = true;
    });
    answer.catch(() => {});
    for (let turn = 1; !isOver; turn += 1) {
      await nextTurn();
      if (turn % PATIENT_TURNS === 0) await clock.advance(HOLD_MS);
    }
    return answer;
  }
}
