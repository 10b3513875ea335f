import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { fetch } from 'undici';
import { type ListeningServer, listening } from '../servers/tcp-servers.ts';

interface Exchange {
  readonly request: object;
  readonly answer: object;
}

/** The agent protocol of the previous release as JSON Schema, generated from its own schemas. */
const WIRE: Readonly<Record<string, Exchange>> & {
  readonly result: object;
  readonly missed: object;
} = JSON.parse(readFileSync(join(import.meta.dirname, 'wire.json'), 'utf8'));
const EXCHANGES = ['poll', 'results', 'handovers', 'release', 'errors', 'artifacts'] as const;

export interface PreviousReleaseRelay extends ListeningServer {
  readonly url: string;
  /** Parts of the messages that the previous release would have refused. */
  readonly faults: readonly string[];
  /** The number of relayed messages by the last segment of the path. */
  readonly relayed: ReadonlyMap<string, number>;
}

/**
 * A relay between an agent and its service that removes the fields that the previous release did
 * not know, as its own schemas did. So the agent sees a service of the previous release, and the
 * service sees such an agent.
 */
export async function startPreviousReleaseRelay(serviceUrl: string): Promise<PreviousReleaseRelay> {
  const ajv = new Ajv2020({ strict: false, removeAdditional: true, validateFormats: true });
  formats.default(ajv);
  const validators = new Map<object, ValidateFunction>();
  const faults: string[] = [];
  const relayed = new Map<string, number>();

  /** The message without the fields that the schema does not know. */
  function known(schema: object, message: unknown, what: string): unknown {
    const validate = validators.get(schema) ?? ajv.compile(schema);
    validators.set(schema, validate);
    if (!validate(message)) faults.push(`${what}: ${ajv.errorsText(validate.errors)}`);
    return message;
  }

  function knownRequest(name: (typeof EXCHANGES)[number], text: string): string {
    const message = JSON.parse(text);
    known(exchangeOf(name).request, message, `a request of ${name}`);
    if (name === 'results') {
      for (const result of message.results) known(WIRE.result, result, 'a result');
      for (const missed of message.missed) known(WIRE.missed, missed, 'a missed record');
    }
    return JSON.stringify(message);
  }

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/', method = 'GET' } = request;
    const sent = await buffer(request);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const name = EXCHANGES.find((one) => url === `/agent/v1/${one}`);
    relayed.set(name ?? url, (relayed.get(name ?? url) ?? 0) + 1);
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const protocol = request.headers['x-agent-protocol'];
    const answer = await fetch(`${serviceUrl}${url}`, {
      method,
      headers: {
        authorization,
        ...(type === '' ? {} : { 'content-type': type }),
        ...(typeof protocol === 'string' ? { 'x-agent-protocol': protocol } : {}),
      },
      ...(method === 'GET'
        ? {}
        : { body: name === undefined ? body : knownRequest(name, body.toString()) }),
    });
    const text = await answer.text();
    const shown =
      name !== undefined && answer.ok
        ? JSON.stringify(known(exchangeOf(name).answer, JSON.parse(text), `an answer of ${name}`))
        : text;
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    response.end(shown);
  }

  const server = createServer((request, response) => {
    relay(request, response).catch(() => response.destroy());
  });
  const relaying = await listening(server);
  return { ...relaying, url: `http://127.0.0.1:${relaying.port}`, faults, relayed };
}

function exchangeOf(name: (typeof EXCHANGES)[number]): Exchange {
  const exchange = WIRE[name];
  if (exchange === undefined) throw new Error(`no messages of ${name}`);
  return exchange;
}
