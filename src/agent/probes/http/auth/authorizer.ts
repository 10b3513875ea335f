import type { Failure } from '../../../../model/result/error-codes.ts';
import type { ProbeContext } from '../../probe.ts';
import type { HopRequest, ResponseHead } from '../transport.ts';

/** What to add to a request, or why it cannot be sent. */
export type Authorized =
  | {
      readonly ok: true;
      /** Replace the request's headers of the same names. */
      readonly headers: readonly (readonly [string, string])[];
      /** Replaces the request's url, if its path needs another encoding. */
      readonly url?: URL;
    }
  | { readonly ok: false; readonly failure: Failure };

/**
 * `auth` of one attempt (src/model/README.md, "Authentication of API checks"). Only requests to the
 * origin of the check are authenticated. Its own time is not part of the response time.
 */
export interface Authorizer {
  authorize(request: HopRequest, context: ProbeContext): Promise<Authorized>;
  /** Whether the response asks for the request again, with other credentials. No side effects. */
  asksAgain(head: ResponseHead): boolean;
  /** Called before the request is sent again. */
  accept(head: ResponseHead): void;
}
