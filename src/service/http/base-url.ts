import type { FastifyRequest } from 'fastify';

const HOST = /^[\w.:[\]-]+$/;

/**
 * The address at which the caller reached the service, from its Host header, which a client can
 * forge; PUBLIC_URL overrides it. Empty (leaving a path alone) if the header names no host.
 */
export function requestOrigin({
  protocol,
  host,
}: Pick<FastifyRequest, 'protocol' | 'host'>): string {
  return HOST.test(host) ? `${protocol}://${host}` : '';
}

/**
 * The base of links to the service, without a slash at its end.
 *
 * @param publicUrl PUBLIC_URL; null for the address of the request
 */
export function baseUrlOf(
  request: Pick<FastifyRequest, 'protocol' | 'host'>,
  publicUrl: string | null,
): string {
  return (publicUrl ?? requestOrigin(request)).replace(/\/+$/, '');
}
