import '../reflect-metadata.ts';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

// The types of the package are those of browsers.
cryptoProvider.set(webcrypto as unknown as Crypto);

const DAY_MS = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate with its key, as PEM text. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface LeafOptions {
  readonly commonName?: string;
  /** DNS names; `localhost` by default. */
  readonly names?: readonly string[];
  readonly addresses?: readonly string[];
  /** Days from now; negative for the past. */
  readonly validFromDays?: number;
  readonly validToDays?: number;
}

export interface Authority {
  /** The authority's own certificate, PEM. */
  readonly cert: string;
  issue(options?: LeafOptions): Promise<Identity>;
  /** An authority below this one; its certificates include the chain behind the leaf. */
  intermediate(options?: {
    readonly commonName?: string;
    readonly validToDays?: number;
  }): Promise<Authority>;
}

interface Issuer {
  readonly subject: string;
  readonly key: webcrypto.CryptoKey;
  /** PEM of the certificates between the leaf and the root. */
  readonly chain: string;
}

export async function createAuthority(commonName = 'Test Root'): Promise<Authority> {
  const keys = await createKeys();
  const subject = `CN=${commonName}`;
  const cert = await certificateOf(
    { subject, publicKey: keys.publicKey, isAuthority: true },
    { subject, key: keys.privateKey },
  );
  return authorityOf(cert.toString('pem'), { subject, key: keys.privateKey, chain: '' });
}

/** A self-signed leaf. */
export async function createSelfSigned(options: LeafOptions = {}): Promise<Identity> {
  const keys = await createKeys();
  const subject = `CN=${options.commonName ?? 'self-signed.test'}`;
  const cert = await certificateOf(
    { subject, publicKey: keys.publicKey, leaf: options },
    { subject, key: keys.privateKey },
  );
  return { cert: cert.toString('pem'), key: await pemOf(keys.privateKey) };
}

function authorityOf(cert: string, issuer: Issuer): Authority {
  return {
    cert,
    async issue(options = {}) {
      const keys = await createKeys();
      const subject = `CN=${options.commonName ?? 'leaf.test'}, O=Vedette Tests`;
      const leaf = await certificateOf(
        { subject, publicKey: keys.publicKey, leaf: options },
        issuer,
      );
      return {
        cert: `${leaf.toString('pem')}\n${issuer.chain}`,
        key: await pemOf(keys.privateKey),
      };
    },
    async intermediate({ commonName = 'Test Intermediate', validToDays = 3650 } = {}) {
      const keys = await createKeys();
      const subject = `CN=${commonName}`;
      const below = await certificateOf(
        { subject, publicKey: keys.publicKey, isAuthority: true, leaf: { validToDays } },
        issuer,
      );
      const pem = below.toString('pem');
      const chain = `${pem}\n${issuer.chain}`;
      return authorityOf(pem, { subject, key: keys.privateKey, chain });
    },
  };
}

function certificateOf(
  of: {
    readonly subject: string;
    readonly publicKey: webcrypto.CryptoKey;
    readonly isAuthority?: boolean;
    readonly leaf?: LeafOptions;
  },
  signer: Pick<Issuer, 'subject' | 'key'>,
): Promise<X509Certificate> {
  const { names = ['localhost'], addresses = [], validFromDays, validToDays } = of.leaf ?? {};
  const alternatives = [
    ...names.map((value) => ({ type: 'dns' as const, value })),
    ...addresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const authority = of.isAuthority === true;
  return X509CertificateGenerator.create({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    subject: of.subject,
    issuer: signer.subject,
    notBefore: new Date(Date.now() + (validFromDays ?? -3650) * DAY_MS),
    notAfter: new Date(Date.now() + (validToDays ?? 3650) * DAY_MS),
    publicKey: of.publicKey,
    signingKey: signer.key,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(authority, undefined, true),
      ...(authority
        ? [new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true)]
        : []),
      ...(authority || alternatives.length === 0
        ? []
        : [new SubjectAlternativeNameExtension(alternatives)]),
    ],
  });
}

async function createKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
