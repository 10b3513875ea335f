import { createRequire } from 'node:module';

/**
 * llhttp, the parser of Node and of undici, compiled to WebAssembly as undici ships it. Used
 * without undici's Client, which is made for persistent connections: with one request per
 * connection it would cost more than the rest of an exchange.
 */

/** Called while a parser executes. Return values: 0 (continue), -1 (error), SKIP_BODY, PAUSE. */
export interface ParserCallbacks {
  onStatus(text: Buffer): number;
  onHeaderField(text: Buffer): number;
  onHeaderValue(text: Buffer): number;
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number;
  onBody(piece: Buffer): number;
  onMessageComplete(): number;
}

/** llhttp.h: on_headers_complete returns this if no body follows, whatever the headers say. */
export const SKIP_BODY = 1;
/** llhttp.h, HPE_PAUSED. */
export const PAUSE = 21;
/** llhttp.h, HTTP_RESPONSE. */
const TYPE_RESPONSE = 2;
/** llhttp.h, HPE_OK. */
const OK = 0;
/** Bytes of the input that are copied into the parser's memory at once. */
const WINDOW_BYTES = 64 * 1024;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(bytes: number): number;
  llhttp_alloc(type: number): number;
  llhttp_free(parser: number): void;
  llhttp_execute(parser: number, at: number, bytes: number): number;
  llhttp_finish(parser: number): number;
  llhttp_get_error_reason(parser: number): number;
  llhttp_errno_name(error: number): number;
}

type Import = (parser: number, at: number, bytes: number) => number;

interface WebAssemblyLike {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: Readonly<Record<string, Import>> },
  ) => { readonly exports: unknown };
}

export interface ParserProblem {
  /** Like `HPE_INVALID_CONSTANT`. */
  readonly code: string;
  readonly reason: string;
}

/** One response's parser. Its callbacks come only while `execute` or `finish` runs. */
export interface NativeParser {
  /** null if all was parsed, or a callback requested a pause: then the rest is ignored. */
  execute(input: Buffer): ParserProblem | null;
  finish(): ParserProblem | null;
  /** Frees the parser's memory. May be called from a callback, and again. */
  free(): void;
}

interface Engine {
  readonly exports: Exports;
  readonly windowAt: number;
}

let engine: Engine | null = null;
/** Callbacks of the parser that executes; llhttp calls them only during its call. */
let current: ParserCallbacks | null = null;
const NOTHING: Buffer = Buffer.alloc(0);
let input = NOTHING;
/** The address of the start of `input` in the parser's memory. */
let inputAt = 0;

function text(at: number, bytes: number): Buffer {
  const start = at - inputAt;
  return input.subarray(start, start + bytes);
}

const IMPORTS: Readonly<Record<string, Import>> = {
  wasm_on_url: () => 0,
  wasm_on_message_begin: () => 0,
  wasm_on_status: (_parser, at, bytes) => current?.onStatus(text(at, bytes)) ?? -1,
  wasm_on_header_field: (_parser, at, bytes) => current?.onHeaderField(text(at, bytes)) ?? -1,
  wasm_on_header_value: (_parser, at, bytes) => current?.onHeaderValue(text(at, bytes)) ?? -1,
  wasm_on_headers_complete: (_parser, status, upgrade, ...[keepAlive]: number[]) =>
    current?.onHeadersComplete(status, upgrade === 1, keepAlive === 1) ?? -1,
  wasm_on_body: (_parser, at, bytes) => current?.onBody(text(at, bytes)) ?? -1,
  wasm_on_message_complete: () => current?.onMessageComplete() ?? -1,
};

/** The path, the imports and the exports are internals of undici, so its version is pinned. */
function load(): Engine {
  const require = createRequire(import.meta.url);
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyLike })
    .WebAssembly;
  const compile = (file: string): object => new Module(require(`undici/lib/llhttp/${file}`));
  let module: object;
  try {
    module = compile('llhttp_simd-wasm.js');
  } catch {
    // Not every processor has the instructions for it.
    module = compile('llhttp-wasm.js');
  }
  const exports = new Instance(module, { env: IMPORTS }).exports as Exports;
  return { exports, windowAt: exports.malloc(WINDOW_BYTES) };
}

/** Memory of all parsers together, in bytes; it never shrinks. */
export function parserMemoryBytes(): number {
  return engine?.exports.memory.buffer.byteLength ?? 0;
}

/** A parser of one response. Free it after use. */
export function openParser(callbacks: ParserCallbacks): NativeParser {
  engine ??= load();
  const { exports, windowAt } = engine;
  const parser = exports.llhttp_alloc(TYPE_RESPONSE);
  let isFree = false;
  let isBusy = false;

  const release = (): void => exports.llhttp_free(parser);
  const run = (work: () => number): ParserProblem | null => {
    if (isFree) return null;
    if (current !== null) throw new Error('a parser was called from within a parser');
    current = callbacks;
    isBusy = true;
    try {
      const error = work();
      return error === OK || error === PAUSE ? null : problemOf(error);
    } catch (thrown) {
      // An exception leaves the stack of the WebAssembly instance as it is: the next parser gets a
      // new instance.
      engine = null;
      throw thrown;
    } finally {
      current = null;
      input = NOTHING;
      isBusy = false;
      if (isFree) release();
    }
  };
  // Numbers below 0 are return values of callbacks, for which llhttp has no names.
  const problemOf = (error: number): ParserProblem => ({
    code: error > 0 ? textAt(exports, exports.llhttp_errno_name(error)) : 'HPE_USER',
    reason: textAt(exports, exports.llhttp_get_error_reason(parser)),
  });

  return {
    execute: (bytes) =>
      run(() => {
        for (let start = 0; start < bytes.length; start += WINDOW_BYTES) {
          input = bytes.subarray(start, start + WINDOW_BYTES);
          inputAt = windowAt;
          new Uint8Array(exports.memory.buffer, windowAt, input.length).set(input);
          const error = exports.llhttp_execute(parser, windowAt, input.length);
          if (error !== OK) return error;
        }
        return OK;
      }),
    finish: () => run(() => exports.llhttp_finish(parser)),
    free() {
      if (isFree) return;
      isFree = true;
      if (!isBusy) release();
    },
  };
}

/** The null-terminated string at the address. */
function textAt({ memory }: Exports, at: number): string {
  if (at === 0) return '';
  const bytes = Buffer.from(memory.buffer, at);
  return bytes.toString('latin1', 0, bytes.indexOf(0));
}
