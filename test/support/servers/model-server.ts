import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Every byte of the request's head and body. */
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect it
  readonly json: any;
}

export type ModelReply = (
  request: ModelRequest,
  response: ServerResponse,
  number: number,
) => void | Promise<void>;

export interface ModelServer {
  /** Its URL in the form of RCA_URL. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  reply: ModelReply;
  close(): Promise<void>;
}

/** A stand-in for an OpenAI-compatible API. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const model = { reply: answering(ANALYSIS) as ModelReply };
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const { method = '', url = '', headers, rawHeaders } = request;
    const head = `${method} ${url}\n${rawHeaders.join('\n')}\n\n`;
    const received = {
      method,
      path: url,
      headers,
      bytes: Buffer.concat([Buffer.from(head), body]),
      json: JSON.parse(body.toString()),
    };
    requests.push(received);
    await model.reply(received, response, requests.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/base/v1`,
    requests,
    get reply() {
      return model.reply;
    },
    set reply(reply) {
      model.reply = reply;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A possible answer of the model. */
export const ANALYSIS = {
  classification: 'SERVER_ERROR',
  userImpact: 'Users see an error.',
  rootCause: 'The database is likely away.',
  codeFix: 'Start the database.',
  evidence: [{ description: 'The status is 500.', artifacts: ['artifact-1', 'made-up'] }],
  referenceLinks: [{ url: 'https://www.rfc-editor.org/rfc/rfc9110', title: 'HTTP' }],
};

/** Answers with the analysis in a chat completion. */
export function answering(analysis: unknown): ModelReply {
  const content = typeof analysis === 'string' ? analysis : JSON.stringify(analysis);
  const completion = { model: 'a-model-2026', choices: [{ message: { content } }] };
  return (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(completion));
  };
}

/** Answers with a status and a body. */
export function replying(
  status: number,
  body: string = '',
  headers: Readonly<Record<string, string>> = {},
): ModelReply {
  return (_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}
