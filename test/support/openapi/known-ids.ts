import type { Operation } from './document.ts';

/** The id of one resource: the values of the parameters in its path. */
export type IdPath = readonly string[];

/** Other paths that accept ids from the responses of a path. */
const ALSO_AT: readonly (readonly [from: RegExp, to: string])[] = [
  [/^\/v1\/checks\/(url|api|tcp|dns|icmp|heartbeats)$/, '/v1/checks'],
  [/^\/v1\/checks$/, '/v1/check-results'],
  [/^\/v1\/checks$/, '/v1/check-statuses'],
  [/^\/v1\/checks$/, '/v1/missed-slots'],
  [/^\/v1\/checks\/api$/, '/v1/analytics/api-checks'],
  [/^\/v1\/checks\/(url|tcp|dns|icmp)$/, '/v1/analytics/$1'],
];
/** Paths whose responses contain resources with their own paths. */
const LISTED_AT: Readonly<Record<string, string>> = {
  '/v1/checks/{id}/run': '/v1/check-runs',
  '/v1/check-groups/{id}/run': '/v1/check-group-runs',
  '/v1/check-results/{checkId}/{resultId}/artifacts': '/v1/artifacts',
  '/v1/test-session-error-groups/projects/{projectId}': '/v1/test-session-error-groups',
};
const KEPT = 20;
const TOKENS = '/heartbeat';
/** Paths whose ids may be renewed at any time. */
const KEPT_TOKENS = 4;

/** Ids of existing resources, from responses: by the path that lists them, oldest first. */
export class KnownIds {
  readonly #paths = new Map<string, IdPath[]>();
  readonly #reserved = new Set<string>();

  /** Protected from deletion: everything else needs them. */
  reserve(id: string): void {
    this.#reserved.add(id);
  }

  add(home: string, path: IdPath): void {
    if (path.some((id) => this.#reserved.has(id))) return;
    // Seen again, so it probably still exists.
    const others = this.paths(home).filter((other) => other.join('\n') !== path.join('\n'));
    this.#paths.set(home, [...others, path].slice(home === TOKENS ? -KEPT_TOKENS : -KEPT));
    for (const [from, to] of ALSO_AT) {
      if (from.test(home)) this.add(home.replace(from, to), path);
    }
  }

  /** The last parameter's values. */
  ids(home: string): readonly string[] {
    return this.paths(home).map((path) => path.at(-1) ?? '');
  }

  /** Ids that fit the last parameter of a path below them, with all values before it. */
  paths(home: string): readonly IdPath[] {
    return this.#paths.get(home) ?? [];
  }

  /** Adds the ids of a successful response to a request whose path had these values. */
  learn({ path, method }: Operation, asked: IdPath, answer: unknown): void {
    if (method === 'DELETE') {
      this.#forget(homeOf(path), asked);
      return;
    }
    const isOne = path.endsWith('}') && method !== 'POST' && !Array.isArray(answer);
    const home = LISTED_AT[path] ?? (isOne ? homeOf(path) : path);
    const above = path in LISTED_AT ? [] : isOne ? asked.slice(0, -1) : asked;
    for (const item of [answer].flat()) this.#learnItem(home, above, item);
  }

  /** Removes an id and everything below it. */
  #forget(home: string, gone: IdPath): void {
    for (const [place, paths] of this.#paths) {
      const isThere = place === home || place.startsWith(`${home}/{`) || isAlias(home, place);
      if (!isThere) continue;
      this.#paths.set(
        place,
        paths.filter((path) => gone.some((id, index) => id !== path[index])),
      );
    }
  }

  #learnItem(home: string, above: IdPath, item: unknown): void {
    if (typeof item !== 'object' || item === null) return;
    const { id, key, heartbeat, incidentUpdates = [] } = item as Readonly<Record<string, unknown>>;
    const named = id ?? key;
    if (typeof named !== 'string' && typeof named !== 'number') return;
    const path = [...above, String(named)];
    this.add(home, path);
    const token = (heartbeat as { readonly pingToken?: unknown } | undefined)?.pingToken;
    if (token !== undefined) this.add(TOKENS, [String(token)]);
    for (const update of [incidentUpdates].flat()) {
      this.#learnItem(`${home}/{incidentId}/incident-updates`, path, update);
    }
  }
}

/** Whether both are paths of the same kind of resource. */
function isAlias(home: string, other: string): boolean {
  const all = ALSO_AT.filter(([from]) => from.test(home));
  return all.some(([from, to]) => {
    const place = home.replace(from, to);
    return place === other || isAlias(place, other);
  });
}

/** The path without its last parameter and everything after it. */
export function homeOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/{'));
}
