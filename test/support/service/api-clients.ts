import { randomUUID } from 'node:crypto';
import { systemCodeOf } from '../../../src/runtime/errors.ts';
import { until } from './deployment.ts';
import { resultOfRun } from './results-fixture.ts';
import { type Ask, askService, type Reply } from './service-app.ts';

/** An error response. */
export type Trouble =
  | { readonly kind: 'cut'; readonly code: string | null }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly text: string;
      readonly retryAfter: string | null;
    };

/** Clients that load a service, and the responses they received. */
export interface ApiClients {
  /** Everything that the service confirmed with 2xx and therefore must not lose. */
  readonly promised: Promised;
  readonly troubles: readonly Trouble[];
  /** Requests that were answered with 2xx so far. */
  readonly answered: number;
  /** Why a client ended by itself: a promise that the service did not keep. Null while none has. */
  readonly failure: unknown;
  /** Ends them after their current requests, and rejects with `failure` if there is one. */
  stop(): Promise<void>;
}

interface Promised {
  /** The last confirmed name, by check id. */
  readonly names: Map<string, string>;
  /** Pages of results. */
  readonly resultIds: Set<string>;
}

export interface ClientsOptions {
  readonly port: number;
  readonly apiKey: string;
  /** The key of a location that runs the check, without agents. */
  readonly locationKey: string;
  readonly checkId: string;
  readonly slug: string;
  readonly writers: number;
  readonly reporters: number;
}

const RESULTS_PER_BATCH = 20;
const RETRY_MS = 100;
/** The service answers within its own limits of 30 s: a request that lasts longer hangs. */
const REQUEST_LIMIT_MS = 90_000;
/** Longer than any outage of a test: a request that is refused for longer never succeeds. */
const RETRIES_LIMIT_MS = 240_000;
/** Between two steps of a client. Without it the clients take all CPU that the other tests leave. */
const PAUSE_MS = 20;

/** Starts clients that write checks, read them back and report results, each sequentially. */
export function startApiClients(options: ClientsOptions): ApiClients {
  const { port, apiKey, locationKey, checkId, slug, writers, reporters } = options;
  const promised: Promised = { names: new Map(), resultIds: new Set() };
  const troubles: Trouble[] = [];
  const stopping = new AbortController();
  const state = { answered: 0, failure: null as unknown };

  const askOnce = async (path: string, ask: Ask): Promise<Reply | null> => {
    let reply: Reply;
    try {
      const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
      reply = await askService(port, path, { key: apiKey, signal, ...ask });
    } catch (error) {
      troubles.push({ kind: 'cut', code: systemCodeOf(error) });
      return null;
    }
    const { status, text, headers } = reply;
    if (status >= 200 && status < 300) {
      state.answered += 1;
      return reply;
    }
    troubles.push({ kind: 'answer', status, text, retryAfter: headers['retry-after'] ?? null });
    return null;
  };
  /** Repeats a request that is safe to repeat until it is answered. */
  const askAgain = async (path: string, ask: Ask): Promise<Reply> => {
    const beganAtMs = performance.now();
    for (;;) {
      const reply = await askOnce(path, ask);
      if (reply !== null) return reply;
      if (performance.now() - beganAtMs > RETRIES_LIMIT_MS) {
        const last = JSON.stringify(troubles.at(-1));
        throw new Error(`${path} was not answered within ${RETRIES_LIMIT_MS / 1000} s: ${last}`);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };

  const write = async (): Promise<void> => {
    const id = `written-${randomUUID()}`;
    const body = { activated: false, privateLocations: [slug], request: { url: 'http://a.test/' } };
    const { names } = promised;
    const mustRead = async (path: string): Promise<void> => {
      const { json } = await askAgain(path, {});
      if (json.name !== names.get(json.id))
        throw new Error(`${json.id} lost its name: ${json.name}`);
    };
    await askAgain(`/v1/checks/url/${id}`, { method: 'PUT', body: { ...body, name: 'first' } });
    names.set(id, 'first');
    await mustRead(`/v1/checks/${id}`);
    await askAgain(`/v1/checks/${id}`, { method: 'PATCH', body: { name: 'second' } });
    names.set(id, 'second');
    await mustRead(`/v1/checks/${id}`);
    // Sent once: a repeated request would create another check.
    const posted = await askOnce('/v1/checks/url', {
      method: 'POST',
      body: { ...body, name: 'posted' },
    });
    if (posted !== null) names.set(posted.json.id, 'posted');
  };

  let reported = 0;
  const beganMs = Date.now();
  const report = async (): Promise<void> => {
    const results = Array.from({ length: RESULTS_PER_BATCH }, () => {
      reported += 1;
      return resultOfRun({ checkId, runLocation: slug, slot: beganMs - reported * 1000 });
    });
    const { json } = await askAgain('/agent/v1/results', {
      key: locationKey,
      method: 'POST',
      headers: { 'x-agent-protocol': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: 'reporter', epoch: 1, results, missed: [] }),
    });
    if (json.rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(json.rejected[0])}`);
    for (const id of json.accepted) promised.resultIds.add(id);
  };

  const repeat = async (step: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await step();
      } catch (thrown) {
        state.failure ??= thrown;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const running = [
    ...Array.from({ length: writers }, () => repeat(write)),
    ...Array.from({ length: reporters }, () => repeat(report)),
  ];
  return {
    promised,
    troubles,
    get answered() {
      return state.answered;
    },
    get failure() {
      return state.failure;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      if (state.failure !== null) throw state.failure;
    },
  };
}

/** Resolves after this many more requests with 2xx; rejects if a client has failed. */
export async function answeredMore(
  clients: Pick<ApiClients, 'answered' | 'failure' | 'troubles'>,
  count: number,
) {
  const wanted = clients.answered + count;
  await until(
    async () => {
      if (clients.failure !== null) throw clients.failure;
      return { answered: clients.answered, wanted, last: clients.troubles.at(-1) };
    },
    ({ answered }) => answered >= wanted,
  );
}
