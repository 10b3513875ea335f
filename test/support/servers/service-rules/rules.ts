import { z } from 'zod';
import type { HookRequest } from '../hook-server.ts';

/** The published rules of a service for requests. Written from its documents, not from our code. */
export interface ServiceRules {
  /** A configuration that sends to a server at this origin. */
  config(origin: string): Readonly<Record<string, unknown>>;
  /** The forms of accepted requests: one of them must match. */
  readonly requests: readonly RequestRule[];
  /** The answer to an accepted request. */
  readonly answer: { readonly status: number; readonly body: string };
}

interface RequestRule {
  readonly method: 'POST' | 'PUT';
  /** Path and query. */
  readonly path: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
  readonly body: z.ZodType;
  /** The length of the whole body. */
  readonly maxBytes?: number;
  /** The key of the problem for the service, and whether the request ends it if it arrives now. */
  problem?(
    body: never,
    path: string,
    nowMs: number,
  ): { readonly key: string; readonly isOver: boolean };
}

export const JSON_TYPE = { 'content-type': /^application\/json\b/ };
export const TOKEN = 'tk_AbC123';
export const text = (max: number) => z.string().min(1).max(max);
export const time = z.iso.datetime({ offset: true });

/** The problems of a request by the rules; empty if the service accepts it. */
export function problemsOf(rules: ServiceRules, request: HookRequest): readonly string[] {
  const { path, method, headers } = request;
  const rule = rules.requests.find((each) => each.path.test(path) && each.method === method);
  if (rule === undefined) return [`there is no ${method} ${path}`];
  const wrong = Object.entries(rule.headers ?? {})
    .filter(([name, form]) => !form.test(String(headers[name] ?? '')))
    .map(([name]) => `the header ${name} is ${headers[name]}`);
  const parsed = rule.body.safeParse(bodyOf(request));
  const bytes = Buffer.byteLength(request.body);
  return [
    ...wrong,
    ...(parsed.success ? [] : [parsed.error.message]),
    ...(bytes > (rule.maxBytes ?? Number.POSITIVE_INFINITY) ? [`${bytes} bytes`] : []),
  ];
}

/** The problem that a request opens or closes at that time; null for a service without problems. */
export function problemIn(
  rules: ServiceRules,
  request: HookRequest,
  nowMs: number,
): { readonly key: string; readonly isOver: boolean } | null {
  const rule = rules.requests.find(({ path }) => path.test(request.path));
  return rule?.problem?.(bodyOf(request) as never, request.path, nowMs) ?? null;
}

function bodyOf({ headers, body }: HookRequest): unknown {
  return headers['content-type']?.includes('json') === true
    ? JSON.parse(body)
    : Object.fromEntries(new URLSearchParams(body));
}
