import { conflict } from '../../errors.ts';

/** Parts of the host of a request to ignore: the dot of the root (RFC 1034 3.1) and the port. */
const DOT_AND_PORT = /\.?(?::\d*)?$/;
/**
 * Suffixes of names that exist only in the service's own network: those of Kubernetes
 * (.svc, .svc.cluster.local), RFC 6761 6.3, RFC 6762 3, and .internal, which ICANN reserves.
 */
const INTERNAL_NAME = /\.(?:svc|internal|local|localhost)$/;

/** The name in a Host header, in lower case. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(DOT_AND_PORT, '');
}

export interface DomainRulesOptions {
  /** PUBLIC_URL; null if unknown. */
  readonly publicUrl: string | null;
  /** SERVICE_HOSTS. */
  readonly serviceHosts: readonly string[];
  /** CUSTOM_DOMAINS; null for any. */
  readonly customDomains: readonly string[] | null;
}

/**
 * Decides which custom domains pages can have: only those that the operator allows, and no host of the service
 * itself, because a page would hide the service there (src/service/README.md, "Hosts of the service" and "Whose
 * custom domain it is").
 */
export class DomainRules {
  readonly #own: ReadonlySet<string>;
  readonly #allowed: readonly string[] | null;

  constructor({ publicUrl, serviceHosts, customDomains }: DomainRulesOptions) {
    const own = publicUrl === null ? [] : [new URL(publicUrl).hostname];
    this.#own = new Set([...own, ...serviceHosts].map(hostNameOf));
    this.#allowed = customDomains?.map(hostNameOf) ?? null;
  }

  /** Whether a page may be served there. */
  allow(customDomain: string): boolean {
    const isOfService = this.#own.has(customDomain) || INTERNAL_NAME.test(customDomain);
    return !isOfService && this.#isListed(customDomain);
  }

  #isListed(customDomain: string): boolean {
    if (this.#allowed === null) return true;
    return this.#allowed.some((name) => `.${customDomain}`.endsWith(`.${name}`));
  }

  /** @throws ServiceError 409 for a domain that no page can have */
  refuse(customDomain: string | null): void {
    if (customDomain === null || this.allow(customDomain)) return;
    if (this.#own.has(customDomain)) throw ownHost(customDomain);
    if (!INTERNAL_NAME.test(customDomain)) {
      throw conflict(
        `The operator of this service does not allow the custom domain ${customDomain}: it is not at or below a domain in CUSTOM_DOMAINS`,
        { customDomain },
      );
    }
    const [, end] = /(\.[^.]+)$/.exec(customDomain) ?? [];
    throw conflict(
      `The custom domain ${customDomain} ends with ${end}, as names of this service in its own network do: choose another name, and let it lead here`,
      { customDomain },
    );
  }
}

/**
 * Refuses the host at which a request reached the service: it is a host of the service even if the operator did not
 * list it.
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
