import { z } from 'zod';
import type { CheckOf } from '../../model/check/check.ts';
import { API_METHODS, HEADER_NAME, isHeaderValue } from '../../model/check/request/http.ts';
import { LIMITS_CHARS } from '../secrets/value-problem.ts';
import { MAX_BODY_CHARS, MAX_PAIRS } from './limits.ts';
import type { ScriptPair, ScriptRequest, ScriptResponse } from './script-protocol.ts';

const MAX_NAME_CHARS = 2048;

const queryPairs = z
  .array(z.tuple([z.string().min(1).max(MAX_NAME_CHARS), z.string().max(LIMITS_CHARS.query)]))
  .max(MAX_PAIRS);
const headerPairs = z
  .array(
    z.tuple([
      z.string().max(MAX_NAME_CHARS).regex(HEADER_NAME, 'must have a valid name'),
      z
        .string()
        .max(LIMITS_CHARS.header)
        .refine(isHeaderValue, 'must contain only visible Latin-1 characters, spaces and tabs'),
    ]),
  )
  .max(MAX_PAIRS);

/** A request from a script, by the same rules as the request of a check. */
const requestSchema = z.strictObject({
  url: z.string().min(1).max(LIMITS_CHARS.url),
  method: z.enum(API_METHODS),
  headers: headerPairs,
  query: queryPairs,
  body: z.string().max(LIMITS_CHARS.body),
});

export type ReadRequest =
  | { readonly ok: true; readonly request: z.output<typeof requestSchema> }
  | { readonly ok: false; readonly problem: string };

/** Validates a request from a script. The problem names the field, but contains no value. */
export function readScriptRequest(given: unknown): ReadRequest {
  const parsed = requestSchema.safeParse(given);
  if (parsed.success) return { ok: true, request: parsed.data };
  const [issue] = parsed.error.issues;
  const [field = 'request', index] = issue?.path ?? [];
  const where = typeof index === 'number' ? `${String(field)} ${index + 1}` : String(field);
  return { ok: false, problem: `${where}: ${issue?.message ?? 'is not valid'}` };
}

export function scriptRequestOf({ request }: CheckOf<'API'>): ScriptRequest {
  const pairsOf = (fields: readonly { key: string; value: string }[]): ScriptPair[] =>
    fields.map(({ key, value }) => [key, value]);
  const { url, method, body, bodyType } = request;
  return {
    url,
    method,
    headers: pairsOf(request.headers),
    query: pairsOf(request.queryParameters),
    // A check may have a body that it does not send; a body that a script writes is sent.
    body: bodyType === 'NONE' ? '' : body,
  };
}

/** The check with the request as a script has changed it. */
export function withRequest(
  check: CheckOf<'API'>,
  { url, method, headers, query, body }: z.output<typeof requestSchema>,
): CheckOf<'API'> {
  const fieldsOf = (pairs: readonly ScriptPair[]) =>
    pairs.map(([key, value]) => ({ key, value, locked: false }));
  const { bodyType } = check.request;
  const request: CheckOf<'API'>['request'] = {
    ...check.request,
    url,
    method,
    headers: fieldsOf(headers),
    queryParameters: fieldsOf(query),
    body,
    bodyType: bodyType === 'NONE' && body !== '' ? 'RAW' : bodyType,
  };
  return { ...check, request };
}

/** The facts of a response for a script. */
export function scriptResponseOf({
  status,
  headers,
  body,
  responseTime,
}: {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | null;
  readonly responseTime: number | null;
}): ScriptResponse {
  const pairs = Object.entries(headers).flatMap(([name, value]): ScriptPair[] => {
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return values.map((each) => [name, each]);
  });
  const isBodyCut = body !== null && body.length > MAX_BODY_CHARS;
  const shown = isBodyCut ? body.slice(0, MAX_BODY_CHARS) : body;
  return { status, headers: pairs, body: shown, isBodyCut, responseTime };
}
