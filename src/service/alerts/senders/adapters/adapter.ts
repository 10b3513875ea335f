import type { ServiceChannelType } from '../../../../model/alerting/service-channels.ts';
import type { ServiceConfigs } from '../../../../model/alerting/service-targets.ts';
import type { MessageFacts } from '../message-facts.ts';

/** One notification to one channel. */
interface ServiceMessage<Type extends ServiceChannelType> {
  readonly config: ServiceConfigs[Type];
  readonly facts: MessageFacts;
  /** The same for the beginning and the end of a problem: see `incidentKeyOf`. */
  readonly key: string;
  /** The same in every attempt. */
  readonly deliveryId: string;
  /** Now; epoch milliseconds. */
  readonly nowMs: number;
}

/** The method is that of `SERVICE_CHANNELS`. */
export interface AdapterRequest {
  readonly url: URL;
  /** The names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How one service receives notifications. An adapter is pure: it reads neither clock nor network. */
export interface Adapter<Type extends ServiceChannelType> {
  readonly type: Type;
  /** The request, within the limits that the service publishes. */
  request(message: ServiceMessage<Type>): AdapterRequest;
  /**
   * The wait in milliseconds that the body of a refusal requests, for services that send no Retry-After; null for none.
   *
   * @param body of a response with status 429, parsed
   */
  retryAfterMs?(body: unknown): number | null;
}

/** A request with a JSON body. */
export function jsonRequest(
  url: URL,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): AdapterRequest {
  return {
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/**
 * An endpoint below the address of a server, which may have a path and a trailing slash.
 *
 * @param path without a leading slash; the caller percent-encodes values of users
 */
export function endpointOf(base: string, path: string): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}
