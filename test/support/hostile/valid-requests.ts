import { asPage } from './account-user.ts';
import { AGENT_HEADERS, type FullAccount } from './full-account.ts';
import { ownIds } from './path-parameters.ts';
import type { Sent } from './request-sender.ts';
import { pathOf, type Route } from './route-table.ts';
import { exampleOf, leavesOf, type Step } from './schema-example.ts';
import { bodyFor } from './valid-bodies.ts';

/** A valid request of the account. */
export function goodRequest(route: Route, account: FullAccount): Sent {
  const isAgent = route.access.kind === 'agent';
  const isUser = route.access.kind === 'user';
  const body = route.body === null ? undefined : JSON.stringify(bodyOf(route, account));
  return {
    method: route.method,
    path: ownPath(route, account),
    key: isUser ? null : isAgent ? account.agentKey : account.apiKey,
    headers: {
      ...(isAgent ? AGENT_HEADERS : {}),
      ...(isUser ? asPage(account.cookie) : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body,
  };
}

export function bodyOf(route: Route, account: FullAccount): unknown {
  return bodyFor(route, account) ?? (route.body === null ? undefined : exampleOf(route.body));
}

/** The route's path with the account's own ids. */
export function ownPath(route: Route, account: FullAccount): string {
  return pathOf(route, ownIds(route.url.replaceAll(/:(\w+)/g, '{$1}'), account));
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
