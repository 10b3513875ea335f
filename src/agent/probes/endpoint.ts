/** Where an attempt wanted to get to, as far as it knew: what evidence is gathered about. */
export interface Endpoint {
  readonly hostname: string;
  /** The address that was tried last; null where none was found. */
  readonly address: string | null;
  /** null for ICMP. */
  readonly port: number | null;
  /** `dns`: UDP, and TCP for an answer that is too long for it. */
  readonly transport: 'tcp' | 'dns' | 'icmp';
}
