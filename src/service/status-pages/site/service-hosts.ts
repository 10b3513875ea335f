import { conflict } from '../../errors.ts';

/** What does not matter in the host of a request: the dot of the root (RFC 1034 3.1), and the port. */
const DOT_AND_PORT = /\.?(?::\d*)?$/;
/**
 * The ends of names that are looked up in the service's own network only: those of Kubernetes
 * (.svc, .svc.cluster.local), RFC 6761 6.3, RFC 6762 3, and .internal, which ICANN reserves.
 */
const INTERNAL_NAME = /\.(?:svc|internal|local|localhost)$/;

/** The name in a Host header, in lower case. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(DOT_AND_PORT, '');
}

/** The hosts of the service itself: a page that had one as its domain would hide the service there. */
export class ServiceHosts {
  readonly #names: ReadonlySet<string>;

  /**
   * @param publicUrl PUBLIC_URL; null if unknown
   * @param others SERVICE_HOSTS
   */
  constructor(publicUrl: string | null, others: readonly string[]) {
    const own = publicUrl === null ? [] : [new URL(publicUrl).hostname];
    this.#names = new Set([...own, ...others].map(hostNameOf));
  }

  has(name: string): boolean {
    return this.#names.has(name) || INTERNAL_NAME.test(name);
  }

  /** @throws ServiceError 409 for a domain that no page can have */
  refuse(customDomain: string | null): void {
    if (customDomain === null) return;
    if (this.#names.has(customDomain)) throw ownHost(customDomain);
    if (!INTERNAL_NAME.test(customDomain)) return;
    const [, end] = /(\.[^.]+)$/.exec(customDomain) ?? [];
    throw conflict(
      `The custom domain ${customDomain} ends with ${end}, as names of this service in its own network do: choose another name, and let it lead here`,
      { customDomain },
    );
  }
}

/**
 * Refuses the host at which a request reached the service: it is one of its hosts, whether or not the
 * operator listed it.
 *
 * @throws ServiceError 409
 */
export function refuseHostOfRequest(customDomain: unknown, host: string): void {
  if (typeof customDomain !== 'string' || customDomain.toLowerCase() !== hostNameOf(host)) return;
  throw ownHost(customDomain.toLowerCase());
}

function ownHost(customDomain: string) {
  return conflict(
    `The custom domain ${customDomain} is an address of this service: choose another name, and let it lead here`,
    { customDomain },
  );
}
