import { Backoff, retryAfterMs } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { NO_PROXIES, type Proxies } from '../../../runtime/net/proxy/choose-proxy.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { VERSION } from '../../../runtime/version.ts';
import { sleep } from '../../../runtime/wait.ts';
import { outgoingDispatcher } from '../../outgoing/outgoing-dispatcher.ts';
import { ProxyError } from '../../outgoing/proxy-connection.ts';
import type { ModelConfig } from '../root-cause-config.ts';

export type ChatResponse =
  | { readonly ok: true; readonly bytes: Buffer }
  /** `problem` continues a sentence that starts with "the model". */
  | { readonly ok: false; readonly problem: string };

export interface ChatClient {
  /** Sends JSON and returns the answer; retries where that may help. Never rejects. */
  send(body: string, signal: AbortSignal): Promise<ChatResponse>;
  close(): Promise<void>;
}

type Attempt =
  | ChatResponse
  | { readonly ok: 'again'; readonly problem: string; readonly afterMs: number };

const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** Short, because the claim of a crashed replica blocks its analysis until `sendLimitMs` is over. */
const MAX_RETRY_AFTER_MS = 60_000;
const MAX_RESPONSE_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS = 4;

/** The maximum duration of `send`, in milliseconds. */
export function sendLimitMs({ timeoutMs }: Pick<ModelConfig, 'timeoutMs'>): number {
  // Delays of 1 s and 2 s, half of each as jitter: MAX_DELAY_MS is not reached.
  const jitterMs = (FIRST_DELAY_MS * (2 ** (MAX_ATTEMPTS - 1) - 1)) / 2;
  return MAX_ATTEMPTS * timeoutMs + (MAX_ATTEMPTS - 1) * MAX_RETRY_AFTER_MS + jitterMs;
}

/** Talks to an OpenAI-compatible API. */
export function createChatClient({
  config,
  clock,
  random = Math.random,
  proxies = NO_PROXIES,
}: {
  readonly config: ModelConfig;
  readonly clock: Clock;
  readonly random?: () => number;
  /** Default: none. */
  readonly proxies?: Proxies;
}): ChatClient {
  const agent = outgoingDispatcher({
    proxies,
    reachable: null,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    connections: CONNECTIONS,
    // `attempt` limits the time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const url = new URL(`${config.url}/chat/completions`);

  async function request(body: string, signal: AbortSignal): Promise<Attempt> {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname,
      method: 'POST',
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': `vedette/${VERSION}`,
        ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
      },
      body,
      signal,
    });
    const { statusCode: status, headers } = response;
    const bytes = await readBounded(response.body);
    if (status === 429 || status >= 500) {
      const header = headers['retry-after'];
      const value = typeof header === 'string' ? header : null;
      const afterMs = retryAfterMs(value, clock.wallMs(), MAX_RETRY_AFTER_MS) ?? 0;
      return { ok: 'again', problem: `answered with status ${status}`, afterMs };
    }
    if (status < 200 || status >= 300) {
      return { ok: false, problem: `answered with status ${status}` };
    }
    if (bytes === null)
      return { ok: false, problem: `answered more than ${MAX_RESPONSE_BYTES} bytes` };
    return { ok: true, bytes };
  }

  /** One request with its time limit. */
  async function attempt(body: string, signal: AbortSignal): Promise<Attempt> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener('abort', end, { once: true });
    let isLate = false;
    const cancel = clock.after(config.timeoutMs, () => {
      isLate = true;
      end();
    });
    try {
      return await request(body, ended.signal);
    } catch (error) {
      const why = isLate
        ? `did not answer within ${config.timeoutMs / 1000} s`
        : `could not be asked (${error instanceof ProxyError ? error.message : (systemCodeOf(error) ?? 'connection lost')})`;
      return { ok: 'again', problem: why, afterMs: 0 };
    } finally {
      cancel();
      signal.removeEventListener('abort', end);
    }
  }

  return {
    async send(body, signal) {
      const backoff = new Backoff({ minMs: FIRST_DELAY_MS, maxMs: MAX_DELAY_MS, random });
      let problem = 'was not asked, as the service stops';
      for (let made = 1; made <= MAX_ATTEMPTS && !signal.aborted; made += 1) {
        const answer = await attempt(body, signal);
        if (answer.ok !== 'again') return answer;
        problem = `${answer.problem}, ${countText(made, 'time')}`;
        if (made === MAX_ATTEMPTS) break;
        if (!(await sleep(clock, backoff.next(answer.afterMs), signal))) break;
      }
      return { ok: false, problem };
    },
    close: () => agent.destroy(),
  };
}

/** null if the body is longer than MAX_ANSWER_BYTES. */
async function readBounded(body: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop destroys the connection.
    if (bytes > MAX_RESPONSE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
