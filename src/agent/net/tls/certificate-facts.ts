import { type KeyObject, X509Certificate } from 'node:crypto';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { CertificateFacts, TlsFacts } from '../../../model/result/details/check-detail.ts';
import { DAY_MS } from '../../../model/time-units.ts';
import { type Scrub, shortenedText } from '../../secrets/cut-scrubbed.ts';

/** The peer controls its certificate, so the stored parts are bounded. */
const MAX_NAMES = 100;
const MAX_TEXT_CHARS = 1000;

/** The fields of a certificate that are used, in Node's form. */
export type Leaf = Pick<
  PeerCertificate,
  | 'subject'
  | 'issuer'
  | 'subjectaltname'
  | 'valid_from'
  | 'valid_to'
  | 'serialNumber'
  | 'fingerprint256'
> & {
  /** Absent for other certificates of the chain. */
  readonly key?: PublicKey;
};

interface PublicKey {
  readonly type: string;
  readonly bits: number | null;
}

/** Recent certificates by fingerprint, least recently used first; each takes about 1 KB. */
const leaves = new Map<string, Leaf>();
const MAX_LEAVES = 1_000;
const MAX_CACHED_NAMES_CHARS = 4_000;

/**
 * The peer's own certificate; null if it sent none. Does not read the chain. Caches verified
 * certificates by fingerprint: parsing one takes 4 % of a handshake.
 */
export function leafCertificate(socket: TLSSocket): Leaf | null {
  // In some Node versions this call removes the leaf from the chain, which certificate-failures.ts
  // reads if the chain is not valid.
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) {
    const shown: PeerCertificate | null | undefined = socket.getPeerCertificate(false);
    if (shown === null || shown === undefined || Object.keys(shown).length === 0) return null;
    return { ...shown, key: publicKeyOf(new X509Certificate(shown.raw).publicKey) };
  }
  const { fingerprint256 } = certificate;
  const leaf = leaves.get(fingerprint256) ?? leafFrom(certificate);
  leaves.delete(fingerprint256);
  if ((leaf.subjectaltname ?? '').length <= MAX_CACHED_NAMES_CHARS) {
    leaves.set(fingerprint256, leaf);
    for (const oldest of leaves.keys()) {
      if (leaves.size <= MAX_LEAVES) break;
      leaves.delete(oldest);
    }
  }
  return leaf;
}

/** Copies the used fields, without keys and bytes, which would take several times the memory. */
function leafFrom(certificate: X509Certificate): Leaf {
  const legacy = certificate.toLegacyObject();
  const { subject, issuer, subjectaltname, valid_from, valid_to } = legacy;
  const { serialNumber, fingerprint256 } = legacy;
  const names = subjectaltname === undefined ? {} : { subjectaltname };
  const key = publicKeyOf(certificate.publicKey);
  return { subject, issuer, ...names, valid_from, valid_to, serialNumber, fingerprint256, key };
}

/** RFC 8032 5.1.5, 5.2.5: keys of these types have one size. */
const BITS_BY_TYPE: Readonly<Record<string, number>> = { ed25519: 256, ed448: 456 };

function publicKeyOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): PublicKey {
  const type = asymmetricKeyType ?? 'unknown';
  // The names of curves contain their sizes: prime256v1, secp384r1, brainpoolP512r1.
  const ofCurve = asymmetricKeyDetails?.namedCurve?.match(/\d{3}/)?.[0];
  const bits =
    asymmetricKeyDetails?.modulusLength ??
    (ofCurve === undefined ? BITS_BY_TYPE[type] : Number(ofCurve));
  return { type: type.toUpperCase(), bits: bits ?? null };
}

/** The facts of a handshake as results contain them; during a handshake, the facts so far. */
export function readTlsFacts(
  socket: TLSSocket,
  leaf: Leaf | null,
  authorized: boolean,
  { wallMs, scrub }: FactsOptions,
): TlsFacts {
  // The types omit that there is no cipher early in a handshake.
  const cipher: { readonly name: string } | null | undefined = socket.getCipher();
  const alpn = socket.alpnProtocol;
  return {
    protocol: socket.getProtocol(),
    cipher: cipher?.name ?? null,
    alpnProtocol: typeof alpn === 'string' && alpn !== '' ? alpn : null,
    authorized,
    certificate: leaf === null ? null : certificateFacts(leaf, { wallMs, scrub }),
  };
}

export interface FactsOptions {
  readonly wallMs: number;
  /** Masks secrets in texts before they are cut. */
  readonly scrub: Scrub;
}

export function certificateFacts(
  certificate: Leaf,
  { wallMs, scrub }: FactsOptions,
): CertificateFacts {
  const { validToMs, lasting } = lastingFacts.get(certificate) ?? readLasting(certificate);
  const cut = (text: string): string => shortenedText(text, MAX_TEXT_CHARS, scrub);
  const { key } = certificate;
  const daysRemaining = Number.isNaN(validToMs) ? 0 : Math.floor((validToMs - wallMs) / DAY_MS);
  return {
    subject: cut(lasting.subject),
    issuer: cut(lasting.issuer),
    subjectAltNames: lasting.subjectAltNames.map(cut),
    validFrom: cut(lasting.validFrom),
    validTo: cut(lasting.validTo),
    daysRemaining,
    serialNumber: cut(lasting.serialNumber),
    fingerprint256: lasting.fingerprint256,
    ...(key === undefined ? {} : { keyType: key.type, keyBits: key.bits }),
  };
}

interface Lasting {
  readonly validToMs: number;
  /** Independent of the time; texts are not cut. */
  readonly lasting: Omit<CertificateFacts, 'daysRemaining'>;
}

const lastingFacts = new WeakMap<Leaf, Lasting>();

function readLasting(certificate: Leaf): Lasting {
  const read: Lasting = {
    validToMs: Date.parse(certificate.valid_to),
    lasting: {
      subject: nameText(certificate.subject),
      issuer: nameText(certificate.issuer),
      subjectAltNames: boundedNames(alternativeNames(certificate.subjectaltname)),
      validFrom: isoText(certificate.valid_from),
      validTo: isoText(certificate.valid_to),
      serialNumber: certificate.serialNumber,
      fingerprint256: certificate.fingerprint256,
    },
  };
  lastingFacts.set(certificate, read);
  return read;
}

/** `CN=example.com, O=Example`, in the certificate's order. */
export function nameText(name: PeerCertificate['subject'] | undefined): string {
  const parts = Object.entries(name ?? {}).flatMap(([type, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${type}=${String(one)}`),
  );
  return parts.join(', ');
}

/**
 * The names in Node's text for a subjectAltName extension (`DNS:a.test, IP Address:192.0.2.1`). DNS
 * names and addresses stand alone, other kinds keep their prefix. Node writes a name that contains
 * a comma or the like as a JSON string.
 */
export function alternativeNames(text: string | undefined): string[] {
  const entries = (text ?? '').match(/[^,:\s][^,:]*:(?:"(?:[^"\\]|\\.)*"|[^,]*)/g) ?? [];
  return entries.map((entry) => {
    const colon = entry.indexOf(':');
    const kind = entry.slice(0, colon);
    const value = unquoted(entry.slice(colon + 1));
    return kind === 'DNS' || kind === 'IP Address' ? value : `${kind}:${value}`;
  });
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

function boundedNames(names: readonly string[]): string[] {
  const first = names.slice(0, MAX_NAMES);
  return names.length > MAX_NAMES ? [...first, `… and ${names.length - MAX_NAMES} more`] : first;
}

/** OpenSSL's `Nov 21 07:11:00 2026 GMT` as ISO 8601; an invalid date unchanged. */
function isoText(date: string): string {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? date : new Date(ms).toISOString();
}
