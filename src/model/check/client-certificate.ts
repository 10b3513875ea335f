import { isIPv6 } from 'node:net';
import { z } from 'zod';

/** A client certificate and the hosts it is sent to (src/model/README.md, "The check file"). */
export interface ClientCertificate {
  /**
   * A domain or an IP address without scheme and port; `*.` at the start of a domain matches one
   * label, as in certificates.
   */
  readonly host: string;
  /** PEM text, like the key and the CA. */
  readonly cert: string;
  readonly key: string;
  /** Trusted for this host in addition to the usual roots; null if there is none. */
  readonly ca: string | null;
  readonly passphrase: string | null;
}

const MAX_PEM_CHARS = 64_000;
const MAX_HOST_CHARS = 255;
const MAX_PASSPHRASE_CHARS = 1_000;
/** A domain of RFC 1123 labels, and underscores, which many names contain. */
const HOST =
  /^(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/;

/** What an IPv6 address consists of, perhaps in brackets as in a URL. */
const IPV6 = /^\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?$/;

const pem = z.string().min(1).max(MAX_PEM_CHARS);

/** Whether the private key is encrypted, in either form of PEM (RFC 5958, RFC 1421). */
export function isEncryptedKey(key: string): boolean {
  return /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(key);
}

function isHost(text: string): boolean {
  return HOST.test(text) || (IPV6.test(text) && isIPv6(withoutBrackets(text)));
}

/** An IPv6 address in its shortest form (RFC 5952) without brackets; any other host as it is. */
function shortestForm(host: string): string {
  const address = withoutBrackets(host);
  return isIPv6(address) ? withoutBrackets(new URL(`http://[${address}]/`).hostname) : host;
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** A client certificate in the API. Certificate and key are validated separately. */
export const clientCertificateSchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(MAX_HOST_CHARS)
    .refine(isHost, {
      abort: true,
      error:
        'must be a domain or an IP address without scheme, port and path, such as api.example.com, *.example.com or 2001:db8::1',
    })
    .overwrite(shortestForm)
    .meta({ pattern: `${HOST.source}|${IPV6.source}` })
    .describe(
      'The host that the certificate is sent to, on any port: a domain or an IP address without scheme. `*.` at the start of a domain matches one label. IPv6 addresses are shown in their shortest form, without brackets.',
    ),
  cert: pem.describe('The certificate in PEM, followed by the certificates of its chain.'),
  key: pem.describe('The private key in PEM. It is stored encrypted and never returned.'),
  passphrase: z
    .string()
    .max(MAX_PASSPHRASE_CHARS)
    .nullable()
    .default(null)
    .describe('The passphrase of the private key, if the key is encrypted.'),
  ca: pem
    .nullable()
    .default(null)
    .describe(
      'CA certificates in PEM that are trusted for this host, in addition to the usual ones.',
    ),
});
export type ClientCertificateBody = z.output<typeof clientCertificateSchema>;
