import { bodyFor } from './bodies.ts';
import { ownIds } from './own-ids.ts';
import { AGENT_HEADERS, type Party } from './parties.ts';
import { pathOf, type Route } from './route-table.ts';
import { exampleOf, leavesOf, type Step } from './schema-example.ts';
import type { Sent } from './send.ts';

/** A valid request of the party. */
export function goodRequest(route: Route, party: Party): Sent {
  const isAgent = route.access.kind === 'agent';
  const body = route.body === null ? undefined : JSON.stringify(bodyOf(route, party));
  return {
    method: route.method,
    path: ownPath(route, party),
    key: isAgent ? party.agentKey : party.apiKey,
    headers: {
      ...(isAgent ? AGENT_HEADERS : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body,
  };
}

export function bodyOf(route: Route, party: Party): unknown {
  return bodyFor(route, party) ?? (route.body === null ? undefined : exampleOf(route.body));
}

/** The route's path with the party's own ids. */
export function ownPath(route: Route, party: Party): string {
  return pathOf(route, ownIds(route.url.replaceAll(/:(\w+)/g, '{$1}'), party));
}

interface Leaf {
  readonly path: readonly Step[];
  readonly value: unknown;
  /** The field's path. */
  readonly example: unknown;
}

/** Fields for texts and numbers: those of the schema, and those of the valid body. */
export function leaves(route: Route, base: unknown): readonly Leaf[] {
  const examples = [base, ...(route.body === null ? [] : [exampleOf(route.body)])];
  const found = new Map<string, Leaf>();
  for (const example of examples) {
    for (const leaf of leavesOf(example)) found.set(leaf.path.join('\n'), { ...leaf, example });
  }
  return [...found.values()];
}
