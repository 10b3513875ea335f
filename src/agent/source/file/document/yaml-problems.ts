/** A problem of a text as the parser reports it. */
export interface YamlProblem {
  readonly offset: number;
  readonly code: string;
  readonly message: string;
}

/** Nobody reads more problems, and a parser can find one at every character. */
const MAX_YAML_PROBLEMS = 1_000;

/** Thrown to end the parsing; the problems found so far are reported. */
class EnoughYamlProblems extends Error {}

/** The problems of a text, up to a bound. */
export class YamlProblems {
  readonly #problems: YamlProblem[] = [];

  get list(): readonly YamlProblem[] {
    return this.#problems;
  }

  /** @throws the error that `upToEnough` catches, after enough problems */
  add(offset: number, code: string, message = ''): void {
    // The library catches what ends its recursion and reports it at each level.
    if (this.#problems.length >= MAX_YAML_PROBLEMS) throw new EnoughYamlProblems();
    this.#problems.push({ offset, code, message });
  }

  /** The result of `parse`; null after enough problems. */
  upToEnough<T>(parse: () => T): T | null {
    try {
      return parse();
    } catch (thrown) {
      if (thrown instanceof EnoughYamlProblems) return null;
      throw thrown;
    }
  }
}
