import { isIPv6 } from 'node:net';

/** The base of links in messages, which may become known only after the start. */
export interface LinkBase {
  /** Without a slash at its end; null while there is none: then messages have no links. */
  readonly url: string | null;
}

/** The address of an unspecified address, for a client of the same machine. */
const REACHED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * PUBLIC_URL, or else the address that the service listens on, once it is set. Such links work only on the
 * same machine, where the users of `vedette up` are.
 */
export class ServiceLinkBase implements LinkBase {
  #url: string | null;
  readonly #isFixed: boolean;

  constructor(publicUrl: string | null) {
    this.#url = publicUrl;
    this.#isFixed = publicUrl !== null;
  }

  get url(): string | null {
    return this.#url;
  }

  /** @param port 0 is not known yet */
  listensAt(host: string, port: number): void {
    if (this.#isFixed || port === 0) return;
    const reached = REACHED[host] ?? host;
    this.#url = `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
  }
}
