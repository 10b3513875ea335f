/** The destination of an attempt, as far as it is known; evidence is gathered about it. */
export interface Endpoint {
  readonly hostname: string;
  /** The address that was tried last; null if there was none. */
  readonly address: string | null;
  /** null for ICMP. */
  readonly port: number | null;
  /** `dns`: UDP, and TCP for an answer that is too long for it. */
  readonly transport: 'tcp' | 'dns' | 'icmp';
}
