import type { FastifyRequest } from 'fastify';
import { forbidden } from '../../errors.ts';
import type { ServiceAddress } from './service-address.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

type Asked = Pick<FastifyRequest, 'protocol' | 'host' | 'headers' | 'method'>;

/**
 * Whether a request is safe from forgery by another site (OWASP, Cross-Site Request Forgery
 * Prevention): its method changes nothing, or the browser says that a page of the service sent it.
 */
export function isSameOrigin(serviceAddress: ServiceAddress, request: Asked): boolean {
  if (SAFE_METHODS.includes(request.method)) return true;
  const { 'sec-fetch-site': fetchSite } = request.headers;
  // No page can set or forge this header.
  if (fetchSite !== undefined) return fetchSite === 'same-origin';
  return serviceAddress.hasOrigin(request);
}

/** Whether the browser says that a page of another site sent the request. */
function isCrossOrigin(serviceAddress: ServiceAddress, request: Asked): boolean {
  const { origin, 'sec-fetch-site': fetchSite } = request.headers;
  const isOfPage = origin !== undefined || fetchSite !== undefined;
  return isOfPage && !isSameOrigin(serviceAddress, request);
}

/** @throws ServiceError 403 if another site may have made the browser send the request */
export function requireOwnPage(serviceAddress: ServiceAddress, request: FastifyRequest): void {
  if (isSameOrigin(serviceAddress, request)) return;
  throw forbidden(
    'The request does not say that it comes from a page of this service: send its Origin, or use an API key',
  );
}

/** The same for requests that need no session, which other programs than browsers send, too. */
export function refuseForeignPage(serviceAddress: ServiceAddress, request: FastifyRequest): void {
  if (isCrossOrigin(serviceAddress, request))
    throw forbidden('A page of another site sent this request');
}
