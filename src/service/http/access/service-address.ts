import type { FastifyRequest } from 'fastify';
import { baseUrlOf, requestOrigin } from '../base-url.ts';

/** The service as browsers reach it: the base of links, and whether they use HTTPS. */
export class ServiceAddress {
  readonly #publicUrl: URL | null;

  /** @param publicUrl PUBLIC_URL; null for the address of each request */
  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl === null ? null : new URL(publicUrl);
  }

  /** The base of links, without a slash at its end. */
  baseUrl(request: Pick<FastifyRequest, 'protocol' | 'host'>): string {
    return baseUrlOf(request, this.#publicUrl?.href ?? null);
  }

  /** A path of the service as browsers reach it: PUBLIC_URL may have a path. */
  path(path: string): string {
    return `${(this.#publicUrl?.pathname ?? '').replace(/\/+$/, '')}${path}`;
  }

  isHttps({ protocol }: Pick<FastifyRequest, 'protocol'>): boolean {
    return (this.#publicUrl?.protocol ?? `${protocol}:`) === 'https:';
  }

  /** Whether the Origin of a request is that of the service. */
  hasOrigin(request: Pick<FastifyRequest, 'protocol' | 'host' | 'headers'>): boolean {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    return origin === this.#publicUrl?.origin || origin === requestOrigin(request);
  }
}
