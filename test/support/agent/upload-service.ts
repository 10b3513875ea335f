import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import {
  type ArtifactBegin,
  artifactBeginSchema,
  completionPath,
  partPath,
} from '../../../src/wire/v1/artifacts.ts';
import { type ErrorsRequest, errorsRequestSchema } from '../../../src/wire/v1/error-report.ts';
import { PATHS } from '../../../src/wire/v1/limits.ts';
import { readBatch, resultsEnvelope } from '../../../src/wire/v1/results.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body; the part received if the connection was cut. */
  readonly body: Buffer;
}

/** Answers one request. Only its head has been read. */
export type Script = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

interface Upload {
  readonly begin: ArtifactBegin;
  readonly parts: Map<number, Buffer>;
  content: Buffer | null;
}

/**
 * The service as an agent's uploader sees it: speaks the protocol over a real socket and stores
 * what it accepts. Tests put scripts before it, each for one request. Closed when the test ends.
 */
export class UploadService {
  readonly url: URL;
  /** All requests, in the order in which they were read completely or cut. */
  readonly seen: Seen[] = [];
  /** The ids of accepted results and missed records, in order. */
  readonly taken: string[] = [];
  /** Accepted reports of the agent's own errors. */
  readonly errors: ErrorsRequest[] = [];
  readonly uploads = new Map<string, Upload>();
  partBytes = 1000;
  /** Where to upload parts; the service itself if null. */
  storeUrl: URL | null = null;
  /** Headers for these uploads. */
  storeHeaders: Readonly<Record<string, string>> = { 'X-Amz-Signed': 'yes' };
  readonly #scripts: { readonly path: string; readonly script: Script; isLasting: boolean }[] = [];

  static async start(): Promise<UploadService> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const service = new UploadService((server.address() as AddressInfo).port);
    server.on('request', (request, response) => {
      request.on('error', () => {});
      void service.#serve(request, response);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return service;
  }

  private constructor(port: number) {
    this.url = new URL(`http://127.0.0.1:${port}`);
  }

  /** Answers the next request with this path prefix with the script. */
  next(path: string, script: Script): void {
    this.#scripts.push({ path, script, isLasting: false });
  }

  /** Answers every such request with the script, until `restore`. */
  always(path: string, script: Script): void {
    this.#scripts.push({ path, script, isLasting: true });
  }

  restore(): void {
    this.#scripts.length = 0;
  }

  count(path: string): number {
    return this.seen.filter((seen) => seen.path.startsWith(path)).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const index = this.#scripts.findIndex((each) => path.startsWith(each.path));
    const found = this.#scripts[index];
    if (found?.isLasting === false) this.#scripts.splice(index, 1);
    const body = this.#record(request, path);
    if (found !== undefined) await found.script(request, response);
    else this.#answer(path, await body, response);
  }

  async #record(request: IncomingMessage, path: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    await new Promise<void>((resolve) => request.once('close', resolve).once('end', resolve));
    const { method = '', headers } = request;
    const body = Buffer.concat(chunks);
    this.seen.push({ method, path, headers, body });
    return body;
  }

  #answer(path: string, body: Buffer, response: ServerResponse): void {
    if (path === PATHS.results) void this.#takeResults(body, response);
    else if (path === PATHS.errors) this.#takeErrors(body, response);
    else if (path === PATHS.artifacts) this.#begin(body, response);
    else if (path.includes('/parts/')) this.#takePart(path, body, response);
    else if (path.endsWith('/complete')) this.#complete(path, response);
    else json(response, 404, errorBody(404, 'Not Found'));
  }

  async #takeResults(body: Buffer, response: ServerResponse): Promise<void> {
    const message = resultsEnvelope.parse(JSON.parse(gunzipSync(body).toString()));
    const { results, missed, rejected } = await readBatch(message);
    const accepted = [...results, ...missed].map(({ id }) => id);
    this.taken.push(...accepted);
    json(response, 200, { accepted, rejected });
  }

  #takeErrors(body: Buffer, response: ServerResponse): void {
    const request = errorsRequestSchema.parse(JSON.parse(body.toString()));
    this.errors.push(request);
    json(response, 200, { stored: request.reports.length });
  }

  #begin(body: Buffer, response: ServerResponse): void {
    const begin = artifactBeginSchema.parse(JSON.parse(body.toString()));
    const uploadId = `${begin.resultId}-${begin.name}`;
    const upload = this.uploads.get(uploadId) ?? { begin, parts: new Map(), content: null };
    this.uploads.set(uploadId, upload);
    const count = Math.ceil(begin.bytes / this.partBytes);
    const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
      (n) => !upload.parts.has(n),
    );
    const parts = missing.map((n) => ({
      n,
      url: this.storeUrl === null ? partPath(uploadId, n) : new URL(`/${n}`, this.storeUrl).href,
      method: 'PUT',
      headers: this.storeUrl === null ? {} : this.storeHeaders,
    }));
    json(response, 200, { uploadId, partBytes: this.partBytes, parts });
  }

  #takePart(path: string, body: Buffer, response: ServerResponse): void {
    const [, uploadId = '', n = ''] = /artifacts\/([^/]+)\/parts\/(\d+)/.exec(path) ?? [];
    this.uploads.get(decodeURIComponent(uploadId))?.parts.set(Number(n), body);
    json(response, 200, {});
  }

  #complete(path: string, response: ServerResponse): void {
    const [uploadId, upload] = [...this.uploads].find(([id]) => completionPath(id) === path) ?? [];
    if (uploadId === undefined || upload === undefined) {
      json(response, 404, errorBody(404, 'no such upload'));
      return;
    }
    const parts = [...upload.parts].sort(([one], [other]) => one - other);
    const content = Buffer.concat(parts.map(([, bytes]) => bytes));
    const complete = createHash('sha256').update(content).digest('hex') === upload.begin.sha256;
    if (complete) upload.content = content;
    else upload.parts.clear();
    json(response, 200, { complete, missing: [] });
  }
}

export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** In the form of the specification, part 7. */
export function errorBody(statusCode: number, message: string, attributes = {}) {
  return { statusCode, error: 'An error', message, attributes };
}

/** Answers with an error in the service's form, after reading the request. */
export function failing(
  status: number,
  message = 'no',
  headers: Readonly<Record<string, string>> = {},
  attributes: Readonly<Record<string, unknown>> = {},
): Script {
  return async (request, response) => {
    await read(request);
    json(response, status, errorBody(status, message, attributes), headers);
  };
}

export const reset: Script = (request) => {
  request.socket.resetAndDestroy();
};

/** Reads the request to its end. */
export async function read(request: IncomingMessage): Promise<void> {
  if (!request.readableEnded) await once(request, 'end');
}
