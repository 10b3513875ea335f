import type { ArtifactPart } from '../../wire/v1/artifacts.ts';

/** The agent's settings do not allow the address or a header of a part. */
export interface PartDenial {
  readonly code: 'ARTIFACT_ORIGIN_DENIED' | 'ARTIFACT_HEADER_DENIED';
  /** Origin of the address, for the log. */
  readonly origin: string;
  /** One line for the log: what, where, what to do. */
  readonly message: string;
}

/**
 * Headers that a signed PUT to an object store may need. The service must not set headers of
 * connection, framing, Host and credentials: it could send requests to anybody in the agent's name.
 */
const STORE_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-type',
]);
const STORE_PREFIX = 'x-amz-';
const MAX_ORIGIN_CHARS = 300;

/**
 * Why a part must not be sent to its address: the origin is not allowed, or no store needs one of
 * its headers. null if it may be sent. The service's own paths are always allowed.
 *
 * @param origins those of SERVICE_URL and ARTIFACT_ORIGINS
 */
export function partDenial(
  { url, headers }: Pick<ArtifactPart, 'url' | 'headers'>,
  origins: readonly string[],
): PartDenial | null {
  const origin = url.startsWith('/') ? null : new URL(url).origin;
  const shown = origin === null ? 'the service' : origin.slice(0, MAX_ORIGIN_CHARS);
  if (origin !== null && !origins.includes(origin)) {
    const message = `the service requires artifacts to be sent to ${shown}, which this agent does not allow, so they go through the service; if that is its object store, set ARTIFACT_ORIGINS=${shown}`;
    return { code: 'ARTIFACT_ORIGIN_DENIED', origin: shown, message };
  }
  const header = Object.keys(headers).find((name) => !isForStores(name));
  if (header === undefined) return null;
  const message = `the service requires artifacts to be sent to ${shown} with the header ${JSON.stringify(header)}, which no object store needs, so they go through the service without it`;
  return { code: 'ARTIFACT_HEADER_DENIED', origin: shown, message };
}

function isForStores(name: string): boolean {
  const lower = name.toLowerCase();
  return STORE_HEADERS.has(lower) || lower.startsWith(STORE_PREFIX);
}
