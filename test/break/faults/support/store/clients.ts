import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Reply } from '../../../../support/service/service-app.ts';
import type { FaultService } from './service.ts';

export interface Asking {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body?: unknown;
}

/** A client's outcome: an answer, or its timeout. */
type Heard = Reply | 'gave up';

const TRIES = 6;

/** When a client without an answer retries: an agent at once, a user once everything is idle. */
export type Patience = 'at once' | 'when calm';

/**
 * Sends requests like real clients: gives up after a timeout, and repeats requests without an
 * answer or with 503. Records forbidden answers.
 */
export class Clients {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #waiting = new Set<AbortController>();
  readonly #service: Pick<FaultService, 'drive' | 'calm'>;
  /** Answers that violate the rules. */
  readonly faults: string[] = [];
  /** Repeated requests. */
  again = 0;
  /** Answers so far. */
  answered = 0;

  constructor(service: Pick<FaultService, 'port' | 'drive' | 'calm'>) {
    this.#port = service.port;
    this.#service = service;
  }

  /** The time limit of all waiting clients is over. */
  giveUp(): void {
    for (const each of this.#waiting) each.abort();
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Repeats until the answer is not 503. */
  async insist(asking: Asking, patience: Patience): Promise<Reply> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const heard = await this.once(asking, patience);
      if (heard !== null) return heard;
    }
    throw new Error(`${asking.method} ${asking.path} was not answered in ${TRIES} tries`);
  }

  /** The answer; null if there was none or 503, so that nobody knows whether it was done. */
  async once(asking: Asking, patience: Patience): Promise<Reply | null> {
    const heard = await this.#service.drive(this.#send(asking));
    if (heard !== 'gave up' && heard.status !== 503) {
      if (heard.status >= 500) this.#blame(asking, heard);
      return heard;
    }
    this.again += 1;
    if (patience === 'when calm') await this.#service.calm();
    if (heard === 'gave up') return null;
    const { statusCode, error, message, attributes } = heard.json ?? {};
    const isFormed =
      statusCode === 503 &&
      error === 'Service Unavailable' &&
      typeof message === 'string' &&
      typeof attributes === 'object' &&
      Number(heard.headers['retry-after']) > 0;
    if (!isFormed) this.#blame(asking, heard);
    return null;
  }

  #blame({ method, path }: Asking, { status, text: body }: Reply): void {
    this.faults.push(`${method} ${path} was answered ${status} ${body}`);
  }

  async #send({ method, path, key, body }: Asking): Promise<Heard> {
    const limit = new AbortController();
    this.#waiting.add(limit);
    const isBytes = body instanceof Uint8Array;
    try {
      const sent = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        agent: this.#agent,
        signal: limit.signal,
        headers: {
          'x-agent-protocol': '1',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined
            ? {}
            : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
        },
      });
      sent.end(isBytes || body === undefined ? body : JSON.stringify(body));
      const [response] = await once(sent, 'response');
      const received = await text(response);
      this.answered += 1;
      const { statusCode: status, headers } = response;
      return { status, headers, text: received, json: parsed(received) };
    } catch (error) {
      if (limit.signal.aborted) return 'gave up';
      throw error;
    } finally {
      this.#waiting.delete(limit);
    }
  }
}

function parsed(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return null;
  }
}
