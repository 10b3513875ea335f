import type { Failure } from '../../../model/result/error-codes.ts';
import type { ProbeContext } from '../probe.ts';
import type { Authorized, Authorizer } from './auth/authorizer.ts';
import type { BodyPlan } from './exchange.ts';
import { type Hop, type HopOptions, runHop } from './hop.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

type Headers = HopRequest['headers'];

interface AuthorizedHopOptions extends HopOptions {
  /** null sends the request as it is. */
  readonly auth: Authorizer | null;
  /** Called for each exchange, also for those whose response asks for other credentials. */
  readonly onHop: (hop: Hop) => void;
}

/** `authMs`: the time of authentication, which is not the target's. */
export type AuthorizedHop =
  | {
      readonly ok: true;
      readonly hop: Hop;
      /** Headers that `auth` added to the request of the hop. */
      readonly authHeaders: Headers;
      readonly authMs: number;
    }
  | { readonly ok: false; readonly failure: Failure; readonly authMs: number };

/**
 * Sends a request as `auth` authorizes it, and repeats it as often as the response asks for other
 * credentials. Returns the hop of the last response. Fails if the request cannot be authorized.
 */
export async function runAuthorizedHop(
  request: HopRequest,
  options: AuthorizedHopOptions,
  context: ProbeContext,
): Promise<AuthorizedHop> {
  const { clock } = context;
  const { auth } = options;
  const planOf = (head: ResponseHead): BodyPlan =>
    auth?.asksAgain(head) === true ? { kind: 'none' } : options.planOf(head);
  const startMs = clock.monotonicMs();
  for (;;) {
    const authorized = (await auth?.authorize(request, context)) ?? NOT_AUTHORIZED;
    const authMs = clock.monotonicMs() - startMs;
    if (!authorized.ok) return { ok: false, failure: authorized.failure, authMs };
    const { headers: authHeaders, url = request.url } = authorized;
    const headers = [...withoutThose(request.headers, authHeaders), ...authHeaders];
    const hop = await runHop({ ...request, url, headers }, { ...options, planOf }, context);
    options.onHop(hop);
    const head = hop.exchange?.head ?? null;
    if (head === null || hop.failure !== null || auth?.asksAgain(head) !== true) {
      return { ok: true, hop, authHeaders, authMs };
    }
    auth.accept(head);
    context.log.info('The 401 asks for other credentials: sending the request again with them');
  }
}

const NOT_AUTHORIZED: Authorized = { ok: true, headers: [] };

/** The headers whose names are not those of `replaced`. */
export function withoutThose(headers: Headers, replaced: Headers): Headers {
  const names = new Set(replaced.map(([name]) => name.toLowerCase()));
  return names.size === 0 ? headers : headers.filter(([name]) => !names.has(name.toLowerCase()));
}
