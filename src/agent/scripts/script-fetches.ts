import type {
  QuickJSContext,
  QuickJSDeferredPromise,
  QuickJSHandle,
} from 'quickjs-emscripten-core';
import { boundedRequest } from './bounded-request.ts';
import { MAX_FETCHES } from './limits.ts';
import type { FetchReply, FromWorker } from './script-protocol.ts';

/** The requests that a script makes by `fetch`: the agent sends them, outside of the worker. */
export class ScriptFetches {
  readonly #context: QuickJSContext;
  readonly #post: (message: FromWorker) => void;
  readonly #waiting = new Map<number, QuickJSDeferredPromise>();
  #count = 0;

  constructor(context: QuickJSContext, post: (message: FromWorker) => void) {
    this.#context = context;
    this.#post = post;
  }

  /** The number of requests without a reply. */
  get pending(): number {
    return this.#waiting.size;
  }

  /**
   * @returns the promise of the reply, for the script
   * @throws RangeError in the script, after MAX_FETCHES
   */
  begin(request: unknown): QuickJSHandle {
    this.#count += 1;
    if (this.#count > MAX_FETCHES) {
      throw new RangeError(`A script makes at most ${MAX_FETCHES} requests by fetch`);
    }
    const id = this.#count;
    const deferred = this.#context.newPromise();
    this.#waiting.set(id, deferred);
    this.#post({ kind: 'fetch', id, request: boundedRequest(request) });
    return deferred.handle;
  }

  /** @returns a function that settles the script's promise; null if nothing waits for the reply */
  take(id: number, reply: FetchReply): (() => void) | null {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting === undefined) return null;
    return () => {
      if (reply.ok) {
        this.#context.newString(JSON.stringify(reply.response)).consume(waiting.resolve);
      } else {
        const error = { name: 'TypeError', message: `fetch failed: ${reply.problem}` };
        this.#context.newError(error).consume(waiting.reject);
      }
    };
  }
}
