import type { ArtifactPart } from '../../wire/v1/artifacts.ts';

/** A part is not sent as the service wants it, for the agent's own settings. */
export interface PartDenial {
  readonly code: 'ARTIFACT_ORIGIN_DENIED' | 'ARTIFACT_HEADER_DENIED';
  /** Where it was to go, as the log shows it. */
  readonly origin: string;
  /** One line for the log: what, where, what to do. */
  readonly message: string;
}

/**
 * What a signed PUT to an object store may need. Connection, framing, Host and credentials are the
 * agent's own: with those, the service could make the agent speak for it to anybody.
 */
const STORE_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-type',
]);
const STORE_PREFIX = 'x-amz-';
const MAX_ORIGIN_CHARS = 300;

/**
 * Why a part must not be sent as the service wants it: to an origin that nobody allowed, or with a
 * header that no store needs. Null where it may. The service's own paths are always allowed.
 *
 * @param origins those of SERVICE_URL and ARTIFACT_ORIGINS
 */
export function denialOf(
  { url, headers }: Pick<ArtifactPart, 'url' | 'headers'>,
  origins: readonly string[],
): PartDenial | null {
  const origin = url.startsWith('/') ? null : new URL(url).origin;
  const shown = origin === null ? 'the service' : origin.slice(0, MAX_ORIGIN_CHARS);
  if (origin !== null && !origins.includes(origin)) {
    const message = `the service wants artifacts sent to ${shown}, which this agent does not allow, so they go through the service; if that is its object store, set ARTIFACT_ORIGINS=${shown}`;
    return { code: 'ARTIFACT_ORIGIN_DENIED', origin: shown, message };
  }
  const header = Object.keys(headers).find((name) => !isForStores(name));
  if (header === undefined) return null;
  const message = `the service wants artifacts sent to ${shown} with the header ${JSON.stringify(header)}, which no object store needs, so they go through the service without it`;
  return { code: 'ARTIFACT_HEADER_DENIED', origin: shown, message };
}

function isForStores(name: string): boolean {
  const lower = name.toLowerCase();
  return STORE_HEADERS.has(lower) || lower.startsWith(STORE_PREFIX);
}
