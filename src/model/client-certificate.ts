/** A client certificate and the hosts it is shown to (spec 2.14, with its private key). */
export interface ClientCertificate {
  /** A domain without scheme; `*.` at its start stands for one label, as in certificates. */
  readonly host: string;
  /** PEM text, like the key and the CA. */
  readonly cert: string;
  readonly key: string;
  /** Trusted beside the usual roots for this host; null where there is none. */
  readonly ca: string | null;
  readonly passphrase: string | null;
}
