interface Pattern {
  readonly matches: RegExp;
  readonly methods: Set<string>;
}

/** The methods of each path over all routes, for 405 and OPTIONS. */
export class AllowedMethods {
  readonly #patterns = new Map<string, Pattern>();

  /** @param url the route's pattern: `:name` stands for one segment, `*` for the rest */
  add(url: string, method: string | readonly string[]): void {
    const found = this.#patterns.get(url);
    const pattern = found ?? { matches: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) pattern.methods.add(each);
    this.#patterns.set(url, pattern);
  }

  /** In alphabetical order, OPTIONS among them; empty if no route has the path. */
  at(path: string): readonly string[] {
    const methods = new Set<string>();
    for (const { matches, methods: own } of this.#patterns.values()) {
      if (matches.test(path)) for (const method of own) methods.add(method);
    }
    if (methods.size > 0) methods.add('OPTIONS');
    return [...methods].toSorted((a, b) => a.localeCompare(b, 'en'));
  }
}

function patternOf(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 's');
}
