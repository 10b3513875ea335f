import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Clock } from '../../../src/runtime/clock.ts';
import { HEADERS, PATHS } from '../../../src/wire/v1/limits.ts';
import {
  type PollRequest,
  type PollResponse,
  pollRequestSchema,
} from '../../../src/wire/v1/poll.ts';
import {
  type ReleaseRequest,
  type ReleaseResponse,
  releaseRequestSchema,
} from '../../../src/wire/v1/release.ts';

/** A request that the stub holds until the test answers it. */
export interface HeldRequest<Asked, Said> {
  readonly asked: Asked;
  answer(body: Said): void;
  /** An error in the service's form. */
  fail(status: number, attributes?: object, headers?: Readonly<Record<string, string>>): void;
  /** Ends the connection without an answer. */
  cut(): void;
  /** Whether the agent has aborted it. */
  readonly isGivenUp: boolean;
}
/** Omitted fields mean: no change. */
export type HeldPoll = HeldRequest<PollRequest, Partial<PollResponse>>;
type HeldRelease = HeldRequest<ReleaseRequest, ReleaseResponse>;

/** A service stub: real HTTP, validates requests by the protocol, and sends the test's answers. */
export async function startServiceStub(clock: Clock) {
  const polls: HeldPoll[] = [];
  const releases: HeldRelease[] = [];
  const faults: unknown[] = [];
  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => faults.push(error));
  });
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await json(request);
    if (request.headers[HEADERS.protocol] !== '1') throw new Error('not of the protocol');
    if (request.url === PATHS.poll) {
      polls.push(held(pollRequestSchema.parse(body), response, (said) => answerOf(clock, said)));
    } else if (request.url === PATHS.release) {
      releases.push(held(releaseRequestSchema.parse(body), response, (said) => said));
    } else throw new Error(`asked for ${request.url}`);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    /** Requests that no test has taken yet. */
    polls,
    releases,
    /** Faults of requests. */
    faults,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
/** Omitted fields mean: no change. */
export function answerOf(clock: Clock, parts: Partial<PollResponse>): PollResponse {
  return {
    revision: 1,
    epoch: 1,
    leaseMs: 15_000,
    serverTime: clock.wallMs(),
    location: {
      slug: 'office',
      proxyUrl: null,
      variables: [],
      unreadableVariables: [],
      settings: null,
    },
    full: false,
    upsert: [],
    remove: [],
    runs: [],
    trials: [],
    cancelledRuns: [],
    nextPage: null,
    ...parts,
  };
}

function held<Asked, Said>(
  asked: Asked,
  response: ServerResponse,
  bodyOf: (said: Said) => object,
): HeldRequest<Asked, Said> {
  const send = (status: number, body: object, headers: object = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  return {
    asked,
    answer: (said) => send(200, bodyOf(said)),
    fail(statusCode, attributes = {}, headers = {}) {
      const message = 'as the test says';
      send(statusCode, { statusCode, error: 'Error', message, attributes }, headers);
    },
    cut: () => void response.destroy(),
    get isGivenUp() {
      return response.destroyed && !response.writableEnded;
    },
  };
}
