import { MAX_KEY_CHARS, VARIABLE_KEY } from '../../model/check/variable-key.ts';
import { MAX_SET_CHARS, MAX_SET_VARIABLES } from './limits.ts';
import type { FromWorker, SetVariable } from './script-protocol.ts';

/** Maximum length of one value that a script sets. */
const MAX_VALUE_CHARS = 20_000;

/** The variables that one script sets, within their limits. */
export class ScriptVariables {
  readonly #post: (message: FromWorker) => void;
  readonly #variables = new Map<string, SetVariable>();
  #sets = 0;
  #setChars = 0;

  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  /** The last value of each variable. */
  all(): readonly SetVariable[] {
    return [...this.#variables.values()];
  }

  /**
   * @param message from the script, which may send anything
   * @throws TypeError or RangeError, which the script gets
   */
  set({ name, value, isPublic }: Readonly<Record<string, unknown>>): void {
    if (typeof name !== 'string' || !VARIABLE_KEY.test(name) || name.length > MAX_KEY_CHARS) {
      throw new TypeError(
        'The name of a variable must be letters, digits and underscores, and not begin with a digit',
      );
    }
    if (typeof value !== 'string' || value.length > MAX_VALUE_CHARS) {
      throw new RangeError(`The value of a variable has at most ${MAX_VALUE_CHARS} characters`);
    }
    // The main thread has to search for all of them.
    this.#sets += 1;
    this.#setChars += value.length;
    if (this.#sets > MAX_SET_VARIABLES || this.#setChars > MAX_SET_CHARS) {
      throw new RangeError(
        `A script sets variables at most ${MAX_SET_VARIABLES} times, to ${MAX_SET_CHARS} characters in all`,
      );
    }
    const set = { name, value, isPublic: isPublic === true };
    this.#variables.set(name, set);
    if (!set.isPublic) this.#post({ kind: 'secret', value });
  }
}
