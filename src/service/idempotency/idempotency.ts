import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { everyHour } from '../database/every-hour.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { conflict, ServiceError } from '../errors.ts';
import {
  completeRequest,
  countRequests,
  deleteRequest,
  deleteRequestsBefore,
  findRequest,
  insertRequest,
  type RequestKey,
  type StoredRequest,
} from './sql.ts';

export type { RequestKey } from './sql.ts';

export interface IdempotencyParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** null: responses are stored unencrypted, except those with a secret, which are not stored. */
  readonly secrets: SecretBox | null;
}

/** A request that has begun. */
export interface BegunRequest extends RequestKey {
  readonly startedAtMs: number;
}

export interface KeptResponse {
  readonly status: number;
  readonly location: string | null;
  readonly etag: string | null;
  readonly body: string;
}

/** Responses of requests with an Idempotency-Key: src/service/README.md, "Requests". */
export interface Idempotency {
  /**
   * @returns the request, now in progress, or the response to the first one with its key
   * @throws ServiceError 409 while the first one is in progress or where its response was not kept,
   *   422 where it was another request, 429 for too many keys
   */
  begin(
    key: RequestKey,
    requestHash: Buffer,
  ): Promise<
    | { readonly kind: 'begun'; readonly request: BegunRequest }
    | { readonly kind: 'replay'; readonly response: KeptResponse }
  >;
  /**
   * Stores the response for a day.
   *
   * @param response its `body` is null if it is too long to keep
   */
  complete(
    request: BegunRequest,
    response: Omit<KeptResponse, 'body'> & {
      readonly body: string | null;
      /** Whether the response contains a secret that is shown only once. */
      readonly hasSecret: boolean;
    },
  ): Promise<void>;
  /** Frees the key of a request that changed nothing. */
  release(request: BegunRequest): Promise<void>;
  /** Deletes responses older than a day about every hour until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Longer than any request takes: an older request was abandoned by its replica. */
const ABANDONED_MS = 5 * 60_000;
const RETRY_SECONDS = 2;
/** Maximum number of keys of an account in a day. */
const MAX_KEYS = 10_000;
const MAX_BODY_BYTES = 256 * 1024;
const ROWS_AT_ONCE = 1_000;

export function createIdempotency(parts: IdempotencyParts): Idempotency {
  const { store, clock, secrets } = parts;

  const contextOf = ({ accountId, sender, key }: RequestKey): readonly string[] => [
    'idempotency_keys',
    accountId,
    sender,
    key,
  ];

  /** The body of a stored response; null if it was not stored, or can no longer be decrypted. */
  const bodyOf = (key: RequestKey, { body, isSealed }: StoredRequest): string | null => {
    if (body === null || !isSealed) return body?.toString('utf8') ?? null;
    return secrets?.hasKeyOf(body) === true ? secrets.open(body, contextOf(key)) : null;
  };

  const replayOf = (key: RequestKey, stored: StoredRequest): KeptResponse => {
    const { status, location, etag } = stored;
    if (status === null) {
      throw new ServiceError(
        409,
        'The first request with this Idempotency-Key is in progress: send this one again later',
        {
          attributes: { retryAfterSeconds: RETRY_SECONDS },
          headers: { 'retry-after': String(RETRY_SECONDS) },
        },
      );
    }
    const body = bodyOf(key, stored);
    if (body !== null) return { status, location, etag, body };
    throw conflict(
      `The first request with this Idempotency-Key succeeded, but its response was not kept: read ${location ?? 'what it changed'}`,
      { statusCode: status, location },
    );
  };

  return {
    async begin(key, requestHash) {
      const atMs = clock.wallMs();
      const isNew = await insertRequest(store, {
        ...key,
        requestHash,
        atMs,
        expiredBeforeMs: atMs - DAY_MS,
        abandonedBeforeMs: atMs - ABANDONED_MS,
      });
      const request = { ...key, startedAtMs: atMs };
      if (isNew) {
        const { accountId } = key;
        const count = await countRequests(store, { accountId, limit: MAX_KEYS + 1 });
        if (count <= MAX_KEYS) return { kind: 'begun', request };
        await deleteRequest(store, request);
        throw new ServiceError(
          429,
          `An account may use at most ${MAX_KEYS} Idempotency-Keys a day: send the request without one, or later`,
          { attributes: { limit: MAX_KEYS } },
        );
      }
      const stored = await findRequest(store, key);
      if (stored === null) {
        throw conflict('The first request with this Idempotency-Key has just failed: try again');
      }
      if (!stored.requestHash.equals(requestHash)) {
        throw new ServiceError(
          422,
          'This Idempotency-Key was used for another request: a new request needs a new key',
        );
      }
      return { kind: 'replay', response: replayOf(key, stored) };
    },

    async complete(request, { status, location, etag, body: text, hasSecret }) {
      const isLong = text !== null && Buffer.byteLength(text) > MAX_BODY_BYTES;
      const kept = isLong || (hasSecret && secrets === null) ? null : text;
      const body =
        kept === null
          ? null
          : (secrets?.seal(kept, contextOf(request)) ?? Buffer.from(kept, 'utf8'));
      const isSealed = secrets !== null;
      await completeRequest(store, { ...request, status, location, etag, body, isSealed });
    },

    release: (request) => deleteRequest(store, request),

    async maintain(signal) {
      await everyHour(
        parts,
        'old Idempotency-Keys could not be removed',
        () => {
          const beforeMs = clock.wallMs() - DAY_MS;
          const remove = (limit: number) => deleteRequestsBefore(store, { beforeMs, limit });
          return removeInBatches(ROWS_AT_ONCE, remove, signal);
        },
        signal,
      );
    },
  };
}
