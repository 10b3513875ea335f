import createClient, { type Middleware } from 'openapi-fetch';
import { basePath } from '../shell/base-path.ts';
import { errorOf, isAbort, offline } from './errors.ts';
import type { paths } from './openapi.d.ts';
import { signInAgain } from './sign-in-again.ts';

/** The account that requests are about: signed-in-user.ts sets it. Null: the first one of the user. */
let accountId: string | null = null;

export function useAccountOf(id: string | null): void {
  accountId = id;
}

/** The headers of every request, including requests that this client does not send. */
export function accountHeaders(): Readonly<Record<string, string>> {
  return accountId === null ? {} : { 'x-service-account': accountId };
}

const middleware: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(accountHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok || response.status === 304) return response;
    // Only for reads: forms show the error themselves, because the typed input may have no other copy.
    if (response.status === 401 && request.method === 'GET') signInAgain();
    const body: unknown = await response.json().catch(() => null);
    throw errorOf(response, body);
  },
  onError({ error }) {
    return isAbort(error) ? (error as Error) : offline(error);
  },
};

/**
 * The API of the service, typed by its OpenAPI document. Every call throws an ApiError unless it succeeds.
 *
 * @example const { data } = await api.GET('/v1/check-groups', { params: { query: { limit: 100 } }, signal });
 */
export const api = createClient<paths>({ baseUrl: basePath });
api.use(middleware);

/**
 * The body of a response.
 *
 * @throws ApiError, which the client throws before
 */
export async function bodyOf<Data>(
  answer: Promise<{ readonly data?: Data; readonly response: Response }>,
): Promise<Exclude<Data, undefined>> {
  const { data } = await answer;
  return data as Exclude<Data, undefined>;
}

/** The body of a list, and its total number of entries. */
export async function pageOf<Data>(
  answer: Promise<{ readonly data?: Data; readonly response: Response }>,
): Promise<{
  readonly entries: Exclude<Data, undefined>;
  /** Null if the response does not contain the total. */
  readonly total: number | null;
  /** Whether there are more than `total`: the API stops counting there. */
  readonly isAtLeast: boolean;
  /** The cursor of the next page; null after the last one. */
  readonly nextCursor: string | null;
}> {
  const { data, response } = await answer;
  const total = response.headers.get('x-total-count');
  const hasNext = /rel="next"/.test(response.headers.get('link') ?? '');
  return {
    entries: data as Exclude<Data, undefined>,
    total: total === null ? null : Number(total),
    isAtLeast: response.headers.has('x-total-count-at-least'),
    nextCursor: hasNext ? response.headers.get('x-next-cursor') : null,
  };
}
