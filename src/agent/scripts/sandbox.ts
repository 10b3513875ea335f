import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { messageOf } from '../../runtime/errors.ts';
import { boundedRequest } from './bounded-request.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';
import {
  MAX_ERROR_CHARS,
  MAX_LOG_CHARS,
  MAX_LOG_LINES,
  MAX_MESSAGE_CHARS,
  MEMORY_BYTES,
  STACK_BYTES,
} from './limits.ts';
import { PRELUDE } from './prelude.ts';
import { ScriptFetches } from './script-fetches.ts';
import {
  type FetchReply,
  type FromWorker,
  LOG_LEVELS,
  type ScriptEnd,
  type StartMessage,
} from './script-protocol.ts';
import { ScriptVariables } from './script-variables.ts';

/** Memory for reading the error of a script that has used up its own. */
const SPARE_BYTES = 4 * 1024 * 1024;

/** Creates a WebAssembly module for one script, so that it cannot read what another one left. */
export function newSandbox(): Promise<QuickJSWASMModule> {
  return newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-wasmfile-release-sync'));
}

interface Functions {
  readonly finish: QuickJSHandle;
  readonly describe: QuickJSHandle;
}

/**
 * Runs one script in QuickJS. The main thread ends the worker if this takes too long: loops inside
 * functions of QuickJS (a power of a BigInt, `indexOf`) cannot be interrupted.
 */
export class Sandbox {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #post: (message: FromWorker) => void;
  readonly #fetches: ScriptFetches;
  readonly #variables: ScriptVariables;
  #fileName = '';
  #functions: Functions | null = null;
  /** The promise of the script's module. */
  #module: QuickJSHandle | null = null;
  #lines = 0;
  #hasEnded: boolean = false;

  constructor(module: QuickJSWASMModule, post: (message: FromWorker) => void) {
    this.#post = post;
    this.#runtime = module.newRuntime();
    this.#runtime.setMemoryLimit(MEMORY_BYTES);
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#context = this.#runtime.newContext();
    this.#variables = new ScriptVariables(post);
    this.#fetches = new ScriptFetches(this.#context, post);
  }

  start({ source, fileName, input }: StartMessage): void {
    this.#fileName = fileName;
    this.#guarded(() => {
      this.#functions = this.#runPrelude(JSON.stringify(input));
      const evaluated = this.#context.evalCode(source, fileName, { type: 'module' });
      if (evaluated.error) this.#fail(evaluated.error);
      else {
        this.#module = evaluated.value;
        this.#proceed();
      }
    });
  }

  fetched(id: number, reply: FetchReply): void {
    const settle = this.#fetches.take(id, reply);
    if (settle === null || this.#hasEnded) return;
    this.#guarded(() => {
      settle();
      this.#proceed();
    });
  }

  #runPrelude(input: string): Functions {
    const context = this.#context;
    const call = context.newFunction('call', (name, json) => {
      const known = HOST_FUNCTIONS.get(this.#textOf(name));
      if (known === undefined) throw new TypeError('There is no such function');
      return context.newString(JSON.stringify(known(JSON.parse(this.#textOf(json)))));
    });
    const send = context.newFunction('send', (json) => {
      this.#sent(JSON.parse(this.#textOf(json)));
    });
    const ask = context.newFunction('ask', (json) =>
      this.#fetches.begin(JSON.parse(this.#textOf(json))),
    );
    const made = context.unwrapResult(
      context.callFunction(
        context.unwrapResult(context.evalCode(PRELUDE, 'vedette.js', { type: 'global' })),
        context.undefined,
        call,
        send,
        ask,
        context.newString(input),
      ),
    );
    return { finish: context.getProp(made, 'finish'), describe: context.getProp(made, 'describe') };
  }

  /** Checks the argument: a script can call the bridge with anything. */
  #textOf(handle: QuickJSHandle | undefined): string {
    const context = this.#context;
    if (handle === undefined || context.typeof(handle) !== 'string') {
      throw new TypeError('must be a text');
    }
    const chars = context.getProp(handle, 'length').consume((each) => context.getNumber(each));
    if (!(chars <= MAX_MESSAGE_CHARS)) {
      throw new RangeError(`A text is longer than ${MAX_MESSAGE_CHARS} characters`);
    }
    return context.getString(handle);
  }

  #sent(message: unknown): void {
    const given = (typeof message === 'object' ? message : null) as Record<string, unknown> | null;
    if (given?.kind === 'set') this.#variables.set(given);
    if (given?.kind === 'log') this.#log(given);
  }

  #log({ level, text }: Readonly<Record<string, unknown>>): void {
    this.#lines += 1;
    if (this.#lines > MAX_LOG_LINES) return;
    this.#post({
      kind: 'log',
      level: LOG_LEVELS.find((each) => each === level) ?? 'info',
      text: String(text).slice(0, MAX_LOG_CHARS),
    });
  }

  /** Runs pending jobs. Ends the script if its promise is settled, or never will be. */
  #proceed(): void {
    const context = this.#context;
    const jobs = this.#runtime.executePendingJobs();
    if (jobs.error) {
      this.#fail(jobs.error);
      return;
    }
    if (this.#module === null) return;
    const state = context.getPromiseState(this.#module);
    if (state.type === 'rejected') this.#fail(state.error);
    if (state.type === 'fulfilled') this.#finish();
    if (state.type === 'pending' && this.#fetches.pending === 0) {
      this.#failWith('The script waits for a promise that nothing will settle');
    }
  }

  #finish(): void {
    const context = this.#context;
    const { finish } = this.#known();
    const made = context.callFunction(finish, context.undefined);
    if (made.error) {
      this.#fail(made.error);
      return;
    }
    const request = boundedRequest(JSON.parse(this.#textOf(made.value)));
    this.#end({ kind: 'passed', result: { request, variables: this.#variables.all() } });
  }

  #known(): Functions {
    if (this.#functions === null) throw new Error('the sandbox is not prepared');
    return this.#functions;
  }

  #fail(error: QuickJSHandle): void {
    const context = this.#context;
    this.#runtime.setMemoryLimit(MEMORY_BYTES + SPARE_BYTES);
    // QuickJS throws null if there is no memory for an error.
    if (context.eq(error, context.null)) {
      this.#failWith('out of memory', { code: 'SCRIPT_MEMORY' });
      return;
    }
    const described = context.callFunction(this.#known().describe, context.undefined, error);
    if (described.error) {
      this.#failWith('The script threw an error that cannot be read');
      return;
    }
    const read = JSON.parse(this.#textOf(described.value)) as Record<string, unknown>;
    const [name, message, stack] = [String(read.name), String(read.message), String(read.stack)];
    const isMemory = message === 'out of memory' && name === 'InternalError';
    const text = name === '' ? message : `${name}: ${message}`;
    this.#failWith(text, {
      code: isMemory ? 'SCRIPT_MEMORY' : 'SCRIPT_FAILED',
      line: this.#lineIn(stack),
    });
  }

  /** `    at <anonymous> (setup.js:3:5)` */
  #lineIn(stack: string): number | null {
    const at = stack.indexOf(`${this.#fileName}:`);
    if (at === -1) return null;
    const line = Number.parseInt(stack.slice(at + this.#fileName.length + 1, at + 40), 10);
    return Number.isSafeInteger(line) && line > 0 ? line : null;
  }

  #failWith(
    message: string,
    more: Partial<Omit<Extract<ScriptEnd, { kind: 'failed' }>, 'kind' | 'message'>> = {},
  ): void {
    const text = message.slice(0, MAX_LOG_CHARS);
    const rest = { code: 'SCRIPT_FAILED', line: null, isBroken: false, ...more } as const;
    this.#end({ kind: 'failed', message: text, ...rest });
  }

  #end(end: ScriptEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#post({ kind: 'ended', end });
  }

  /** Catches failures of the WebAssembly module itself: it traps, or its memory cannot grow. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      const problem = messageOf(thrown);
      // Emscripten has no codes. An access out of bounds is the stack of the module, not its
      // memory.
      const isMemory = /out of memory|OOM|enlarge memory/i.test(problem);
      const code = isMemory ? 'SCRIPT_MEMORY' : 'SCRIPT_FAILED';
      const message = `The sandbox of the script ended: ${problem}`.slice(0, MAX_ERROR_CHARS);
      this.#failWith(message, { code, isBroken: true });
    }
  }
}
