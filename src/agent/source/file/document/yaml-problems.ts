/** A problem of a text as the parser reports it. */
export interface YamlProblem {
  readonly offset: number;
  readonly code: string;
  readonly message: string;
}

/** Nobody reads more of them, and a parser can find one at every character. */
const MAX_YAML_PROBLEMS = 1_000;

/** Thrown to end the parsing: only the problems found so far are reported. */
class EnoughYamlProblems extends Error {}

/** What is wrong with a text, up to a bound. */
export class YamlProblems {
  readonly #problems: YamlProblem[] = [];

  get list(): readonly YamlProblem[] {
    return this.#problems;
  }

  /** @throws what `upToEnough` catches, where there are enough of them */
  add(offset: number, code: string, message = ''): void {
    // The library catches what ends its recursion, and reports it as a problem of each level.
    if (this.#problems.length >= MAX_YAML_PROBLEMS) throw new EnoughYamlProblems();
    this.#problems.push({ offset, code, message });
  }

  /** What the parse gives; null where it was ended by the number of its problems. */
  upToEnough<T>(parse: () => T): T | null {
    try {
      return parse();
    } catch (thrown) {
      if (thrown instanceof EnoughYamlProblems) return null;
      throw thrown;
    }
  }
}
