import { STATUS_CODES } from 'node:http';
import { Agent } from 'undici';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of every form
  readonly json: any;
}

export interface Sender {
  send(sent: Sent): Promise<Answer>;
  close(): Promise<void>;
}

/** Sends over a few keep-alive connections, because the tests make thousands of requests. */
export function openSender(port: number): Sender {
  const agent = new Agent({ connections: 16, headersTimeout: 30_000 });
  return {
    async send({ method, path, key, headers = {}, body }) {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      const answer = await agent.request({
        origin: `http://127.0.0.1:${port}`,
        method: method as 'GET',
        path,
        headers: { ...authorization, ...headers },
        body: body ?? null,
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
    },
    close: () => agent.close(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Signs of internals in a response. */
const INSIDE = /SQLSTATE|STORE_|syntax error|node_modules\/|\/src\/|\.ts:\d|\n {4}at /i;

/** src/service/README.md, "The API". */
const ERROR_FIELDS = ['statusCode', 'error', 'message', 'attributes'];

/** Faults of a response to any request. */
export function wrongIn(
  { method }: Sent,
  { status, headers, text, json }: Answer,
): readonly string[] {
  const wrong: string[] = [];
  if (status >= 500) wrong.push(`is ${status}`);
  if (headers['x-injected'] !== undefined) wrong.push('has a header of the request');
  if (status < 400) return wrong;
  if (INSIDE.test(text)) wrong.push(`reveals internals: ${text}`);
  if (method === 'HEAD') return wrong;
  if (String(headers['content-type']).startsWith('text/html')) {
    const policy = String(headers['content-security-policy']);
    if (!policy.includes("default-src 'none'")) wrong.push('is a page that may run a script');
    return wrong;
  }
  const isForm =
    json !== null &&
    ERROR_FIELDS.every((field) => field in json) &&
    Object.keys(json).length === ERROR_FIELDS.length &&
    json.statusCode === status &&
    json.error === STATUS_CODES[status] &&
    typeof json.message === 'string' &&
    json.message !== '' &&
    typeof json.attributes === 'object' &&
    json.attributes !== null;
  if (!isForm) wrong.push(`is an error in another form: ${text.slice(0, 200)}`);
  return wrong;
}

/** Maps all items, with limited concurrency. */
export async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  return results;
}
