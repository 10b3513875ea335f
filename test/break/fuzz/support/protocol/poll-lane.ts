import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { NOT_SCRUBBED } from '../../../../../src/agent/secrets/cut-scrubbed.ts';
import { ServiceClient } from '../../../../../src/agent/service-client/service-client.ts';
import type { CheckSet } from '../../../../../src/agent/source/check-source.ts';
import {
  createServiceSource,
  type ServiceSource,
} from '../../../../../src/agent/source/service/service-source.ts';
import { systemCodeOf } from '../../../../../src/runtime/errors.ts';
import { NO_PROXIES } from '../../../../../src/runtime/net/proxy/choose-proxy.ts';
import { type OneOff, readAssignment } from '../../../../../src/wire/v1/assignment.ts';
import { errorResponseIn } from '../../../../../src/wire/v1/error-response.ts';
import { MAX_POLL_RESPONSE_BYTES } from '../../../../../src/wire/v1/limits.ts';
import {
  type PollRequest,
  type PollResponse,
  pollResponseSchema,
} from '../../../../../src/wire/v1/poll.ts';
import { silentLog } from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { packed, type WireAnswer } from './bytes.ts';
import { NOW, POLL_ANSWER } from './messages.ts';
import { type Held, type HoldingServer, sendAnswer, startHoldingServer } from './server.ts';

const GOOD: WireAnswer = {
  status: 200,
  headers: [['content-type', 'application/json']],
  body: Buffer.alloc(0),
  packing: 'none',
  ending: 'whole',
};
/** How often the agent gets a correct answer and is then compared completely. */
const CASES_PER_RECOVERY = 10;

const good = (answer: object): WireAnswer => ({
  ...GOOD,
  body: Buffer.from(JSON.stringify({ ...POLL_ANSWER, serverTime: NOW, ...answer })),
});

/** The JSON of a complete answer; undefined if it is not JSON or incomplete. */
export function jsonIn(answer: WireAnswer): unknown {
  const { ending, packing, status } = answer;
  if (ending !== 'whole' || packing === 'gzip bomb' || packing === 'cut gzip' || status === 204) {
    return undefined;
  }
  try {
    const bytes = packed(answer);
    const text = packing === 'none' ? bytes : gunzipSync(bytes);
    return text.length > MAX_POLL_RESPONSE_BYTES ? undefined : JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

/** The valid content of the answer; null if there is none. */
function messageIn(answer: WireAnswer): PollResponse | null {
  if (answer.status < 200 || answer.status > 299) return null;
  const parsed = pollResponseSchema.safeParse(jsonIn(answer));
  return parsed.success ? parsed.data : null;
}

function isReplacement(answer: WireAnswer): boolean {
  if (answer.status !== 409) return false;
  return errorResponseIn(409, jsonIn(answer))?.attributes.reason === 'replaced';
}

/** Changes for an agent without a complete set: it ignores them. */
function changesNothingKnown({ full, upsert }: PollResponse, { revision }: PollRequest): boolean {
  return revision === 0 && !full && upsert.length > 0;
}

/**
 * An agent's source of checks, and a service with scripted answers, one for each case. After each
 * case the agent must have exactly the content of the valid answers.
 */
export class PollLane {
  readonly #server: HoldingServer<PollRequest>;
  #agent: Agent;
  #cases = 0;
  /** The expected state of the agent. */
  #ids = new Set<string>();

  static async open(): Promise<PollLane> {
    const server = await startHoldingServer<PollRequest>();
    const lane = new PollLane(server, await startAgent(server.url));
    // Opens the agent's connection, the only one that it may have at the end.
    await lane.#peekPoll();
    return lane;
  }

  private constructor(server: HoldingServer<PollRequest>, agent: Agent) {
    this.#server = server;
    this.#agent = agent;
  }

  async close(): Promise<void> {
    await this.#agent.stop();
    await this.#server.close();
  }

  async run(answer: WireAnswer): Promise<string> {
    this.#cases += 1;
    if (this.#cases % CASES_PER_RECOVERY === 1) await this.#recover();
    const before = await this.#nextPoll();
    const { received, epoch } = this.#agent;
    await this.#answer(before, answer);
    if (isReplacement(answer)) {
      expect(systemCodeOf(await this.#agent.failure())).toBe('AGENT_REPLACED');
      await this.#agent.stop();
      this.#agent = await startAgent(this.#server.url);
      this.#ids = new Set();
      return 'replaced';
    }
    const next = await this.#peekPoll();
    const message = messageIn(answer);
    if (message === null || changesNothingKnown(message, before.asked)) {
      expect(this.#agent.received, 'received check sets').toBe(received);
      expect(next.asked.epoch).toBe(message?.epoch ?? epoch);
      // Requests either everything or the changes since.
      expect([0, before.asked.revision]).toContain(next.asked.revision);
      this.#expectIds();
      return 'nothing of it';
    }
    this.#take(message, message.full);
    expect(next.asked.epoch).toBe(message.epoch);
    if (message.nextPage === null) {
      expect(next.asked).toMatchObject({ revision: message.revision, page: null });
    } else {
      expect(next.asked.page).toBe(message.nextPage);
      // One page of an answer is not a complete set.
      expect(this.#agent.received).toBe(received);
      const last = { full: true, upsert: [], epoch: message.epoch, revision: 8 };
      await this.#answer(await this.#nextPoll(), good(last));
      await this.#peekPoll();
    }
    this.#expectIds();
    return 'taken';
  }

  #take({ upsert, remove }: PollResponse, full: boolean): void {
    if (full) this.#ids = new Set();
    for (const id of remove) this.#ids.delete(id);
    for (const one of upsert) {
      if (readAssignment(one).ok) this.#ids.add(one.checkId);
      else this.#ids.delete(one.checkId);
    }
  }

  #expectIds(): void {
    expect(new Set(this.#agent.ids())).toEqual(this.#ids);
  }

  /** A good answer is accepted after any other. */
  async #recover(): Promise<void> {
    const poll = await this.#nextPoll();
    await this.#answer(poll, good({ epoch: 1, revision: this.#cases }));
    await this.#peekPoll();
    this.#ids = new Set(POLL_ANSWER.upsert.map(({ checkId }) => checkId));
    this.#expectIds();
    expect(this.#agent.location()).toBe('office');
  }

  async #answer({ response }: Held<PollRequest>, answer: WireAnswer): Promise<void> {
    await sendAnswer(response, answer);
    // Only the time limit of the request ends it.
    if (answer.ending === 'silence') await this.#agent.passTime();
  }

  async #peekPoll(): Promise<Held<PollRequest>> {
    const { held } = this.#server;
    for (;;) {
      const [poll] = held;
      if (poll !== undefined) return poll;
      if (this.#agent.ended) throw await this.#agent.failure();
      if (this.#agent.isResting) await this.#agent.passTime();
      else await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async #nextPoll(): Promise<Held<PollRequest>> {
    const poll = await this.#peekPoll();
    this.#server.held.shift();
    return poll;
  }
}

interface Agent {
  /** How many check sets it has received. */
  readonly received: number;
  readonly epoch: number;
  readonly ended: boolean;
  /** True while it waits for the next poll. */
  readonly isResting: boolean;
  ids(): readonly string[];
  location(): string;
  /** Advances its clock to its next timer. */
  passTime(): Promise<void>;
  /** The error that ended it. */
  failure(): Promise<unknown>;
  stop(): Promise<void>;
}

async function startAgent(serviceUrl: URL): Promise<Agent> {
  const clock = new FakeClock(NOW);
  const log = silentLog();
  const key = 'pl_one';
  const client = new ServiceClient({
    serviceUrl,
    key: () => key,
    proxies: NO_PROXIES,
    artifactOrigins: [],
    clock,
    version: '1.2.3',
    scrub: NOT_SCRUBBED,
  });
  let inFlight = 0;
  const source: ServiceSource = await createServiceSource({
    client: {
      key,
      async post(...request) {
        inFlight += 1;
        try {
          return await client.post(...request);
        } finally {
          inFlight -= 1;
        }
      },
    },
    dataDir: null,
    capabilities: { types: ['TCP', 'URL'], ipv6: false, icmp: true, capture: false },
    concurrency: 7,
    load: () => ({ running: 0, queued: 0 }),
    health: () => ({
      maxLatenessMs: null,
      missedSlots: 0,
      spoolRecords: 0,
      spoolBytes: 0,
      spoolOldestMs: null,
    }),
    version: '1.2.3',
    clock,
    log,
    onTrialRefused: (trialId) => source.trialDone(trialId),
  });
  let received = 0;
  let last: CheckSet | null = null;
  let ended = false;
  const stopping = new AbortController();
  const listener = {
    onChecks(set: CheckSet): void {
      received += 1;
      last = set;
    },
    onRunCancelled: () => {},
    onRun: ({ runId }: OneOff): void => source.done(runId),
    onTrial: ({ runId }: OneOff): void => source.trialDone(runId),
  };
  const watching = source.watch(listener, stopping.signal).then(
    () => null,
    (error: unknown) => error,
  );
  void watching.then(() => {
    ended = true;
  });
  const lastSet = (): CheckSet | null => last;
  return {
    get received() {
      return received;
    },
    get epoch() {
      return source.epoch;
    },
    get ended() {
      return ended;
    },
    get isResting() {
      return inFlight === 0 && clock.pendingTimers > 0;
    },
    ids: () => lastSet()?.checks.map(({ id }) => id) ?? [],
    location: () => lastSet()?.location ?? '',
    passTime: () => clock.advance(clock.nextTimerInMs ?? 0),
    failure: () => watching,
    async stop() {
      stopping.abort();
      await watching;
      await source.ended();
      await client.close();
      expect(clock.pendingTimers).toBe(0);
    },
  };
}
