/**
 * The messages between the pool and a worker. Messages are copies, and the pool does not trust
 * them: it validates a request that a script has changed again.
 */

/** Field name and value; a name may occur several times. */
export type ScriptPair = readonly [name: string, value: string];

export interface ScriptRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly ScriptPair[];
  readonly query: readonly ScriptPair[];
  readonly body: string;
}

export interface ScriptResponse {
  readonly status: number;
  readonly headers: readonly ScriptPair[];
  /** Decoded; null if the agent has not read it. */
  readonly body: string | null;
  /** Whether the body was longer than MAX_BODY_CHARS. */
  readonly isBodyCut: boolean;
  /** Milliseconds; null for a response to `fetch`. */
  readonly responseTime: number | null;
}

export interface ScriptInput {
  readonly request: ScriptRequest;
  /** null before the request, and if no response came. */
  readonly response: ScriptResponse | null;
  readonly variables: readonly ScriptPair[];
}

/** A variable that a script has set. */
export interface SetVariable {
  readonly name: string;
  readonly value: string;
  readonly isPublic: boolean;
}

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;
export type ScriptLogLevel = (typeof LOG_LEVELS)[number];

export interface StartMessage {
  readonly kind: 'start';
  readonly source: string;
  /** The name in stack traces: `setup.js`. */
  readonly fileName: string;
  readonly input: ScriptInput;
}

export type FetchReply =
  | { readonly ok: true; readonly response: ScriptResponse }
  | { readonly ok: false; readonly problem: string };

export type ToWorker =
  | StartMessage
  | { readonly kind: 'fetched'; readonly id: number; readonly reply: FetchReply };

/** The output of a script; `request` is bounded (bounded-request.ts), but not validated. */
export interface ScriptResult {
  readonly request: unknown;
  readonly variables: readonly SetVariable[];
}

export type ScriptEnd =
  | { readonly kind: 'passed'; readonly result: ScriptResult }
  | {
      readonly kind: 'failed';
      readonly code: 'SCRIPT_FAILED' | 'SCRIPT_MEMORY';
      /** Written by the script; not masked. */
      readonly message: string;
      /** From 1; null if unknown. */
      readonly line: number | null;
      /** The sandbox itself failed: the worker must not be used again. */
      readonly isBroken: boolean;
    };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly level: ScriptLogLevel; readonly text: string }
  /** Values that are secret from now on. Comes before a log line that could contain them. */
  | { readonly kind: 'secret'; readonly value: string }
  | { readonly kind: 'fetch'; readonly id: number; readonly request: unknown }
  | { readonly kind: 'ended'; readonly end: ScriptEnd };
