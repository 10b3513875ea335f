/** Where an attempt wanted to get to, as far as it knew: what evidence is gathered about. */
export interface Endpoint {
  readonly hostname: string;
  /** The address that was tried last; null where none was found. */
  readonly address: string | null;
  /** null for ICMP. */
  readonly port: number | null;
  readonly transport: 'tcp' | 'udp' | 'icmp';
}
