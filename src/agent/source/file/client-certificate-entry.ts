import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { isMapping } from '../common/raw-mapping.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { shownValue, unknownKeyText } from './schema-issue.ts';

const KNOWN_KEYS = ['host', 'cert', 'key', 'ca', 'passphrase'] as const;
type PemField = 'cert' | 'key' | 'ca';

const HOST = /^(\*\.)?[\p{L}\p{N}_]([\p{L}\p{N}_.-]{0,251}[\p{L}\p{N}_])?$/u;
const MAX_PEM_BYTES = 1024 * 1024;

export interface CertificateContext {
  readonly report: ProblemReporter;
  /** Paths are relative to this file. */
  readonly checkFile: string;
  /** Receives the path of every PEM file in the entries, to watch it. */
  readonly pemFiles: Set<string>;
}

/** One entry of `clientCertificates`; null if a problem was reported. */
export async function readClientCertificate(
  raw: unknown,
  index: number,
  context: CertificateContext,
): Promise<ClientCertificate | null> {
  const { report } = context;
  const entryPath = ['clientCertificates', index];
  if (!isMapping(raw)) {
    report.value(
      entryPath,
      '',
      `must be a mapping with host, cert and key${shownValue(raw, entryPath)}`,
    );
    return null;
  }
  const unknown = Object.keys(raw).filter((key) => !KNOWN_KEYS.some((known) => known === key));
  for (const key of unknown) report.key([...entryPath, key], '', unknownKeyText(key, KNOWN_KEYS));

  const host = readHost(raw.host, [...entryPath, 'host'], report);
  const passphrase = readPassphrase(raw.passphrase, [...entryPath, 'passphrase'], report);
  const pem = async (field: PemField): Promise<string | null> =>
    readPem(raw[field], [...entryPath, field], field, context);
  const cert = await pem('cert');
  const key = await pem('key');
  const ca = raw.ca === undefined || raw.ca === null ? null : await pem('ca');
  const isUsable = areUsable({ cert, key, ca, passphrase }, entryPath, report);
  const isWithoutCa = ca === null && raw.ca !== undefined && raw.ca !== null;
  if (!isUsable || isWithoutCa || unknown.length > 0) return null;
  if (host === null || cert === null || key === null || passphrase === undefined) return null;
  return { host, cert, key, ca, passphrase };
}

function readHost(
  host: unknown,
  path: (string | number)[],
  report: ProblemReporter,
): string | null {
  if (typeof host === 'string' && (HOST.test(host) || isIPv6(withoutBrackets(host)))) return host;
  const missing = host === undefined ? 'is missing; it must' : 'must';
  const what =
    'be a host name or an IP address without scheme and port, where *. may replace the first label of a name';
  report.value(path, '', `${missing} ${what}${shownValue(host, path)}`);
  return null;
}

/** undefined if a problem was reported. */
function readPassphrase(
  passphrase: unknown,
  path: (string | number)[],
  report: ProblemReporter,
): string | null | undefined {
  if (passphrase === undefined || passphrase === null) return null;
  if (typeof passphrase === 'string') return passphrase;
  report.value(path, '', 'must be text; put it in quotes (the value is not shown here)');
  return undefined;
}

async function readPem(
  given: unknown,
  path: (string | number)[],
  field: PemField,
  { report, checkFile, pemFiles }: CertificateContext,
): Promise<string | null> {
  if (typeof given !== 'string' || given.trim() === '') {
    const missing = given === undefined ? 'is missing; it must' : 'must';
    report.value(path, '', `${missing} be PEM text or the path of a PEM file`);
    return null;
  }
  if (given.trimStart().startsWith('-----BEGIN')) return given;
  if (given.includes('\n') || given.length > 1024) {
    report.value(
      path,
      '',
      'must be PEM text that starts with -----BEGIN, or the path of a PEM file',
    );
    return null;
  }
  const file = resolve(dirname(checkFile), given);
  pemFiles.add(file);
  const problem = (what: string): null => {
    report.value(path, '', `names the PEM file ${JSON.stringify(file)}, which ${what}`);
    return null;
  };
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return problem('is not a regular file');
    if (stats.size > MAX_PEM_BYTES) return problem(`is larger than ${MAX_PEM_BYTES} bytes`);
    const text = await readFile(file, 'utf8');
    if (!text.includes('-----BEGIN')) return problem(`contains no PEM text for ${field}`);
    return text;
  } catch (thrown) {
    return problem(`cannot be read (${systemCodeOf(thrown) ?? messageOf(thrown)})`);
  }
}

/** The parts of an entry: null or undefined if reported as a problem. */
interface CertificateParts {
  readonly cert: string | null;
  readonly key: string | null;
  readonly ca: string | null;
  readonly passphrase: string | null | undefined;
}

/** Reports problems that would otherwise appear at the first handshake. */
function areUsable(
  { cert, key, ca, passphrase }: CertificateParts,
  entryPath: (string | number)[],
  report: ProblemReporter,
): boolean {
  let isUsable = true;
  const parse = <Parsed>(field: string, what: string, parser: () => Parsed): Parsed | null => {
    try {
      return parser();
    } catch (thrown) {
      const reason = systemCodeOf(thrown) ?? messageOf(thrown);
      report.value([...entryPath, field], '', `cannot be used as ${what} (${reason})`);
      isUsable = false;
      return null;
    }
  };
  const certificate =
    cert === null ? null : parse('cert', 'a certificate', () => new X509Certificate(cert));
  const privateKey =
    key === null || passphrase === undefined
      ? null
      : parse('key', 'a private key with the passphrase given', () =>
          createPrivateKey(passphrase === null ? key : { key, passphrase }),
        );
  if (ca !== null) parse('ca', 'a certificate', () => new X509Certificate(ca));
  if (certificate === null || privateKey === null) return isUsable;
  if (certificate.checkPrivateKey(privateKey)) return isUsable;
  report.value([...entryPath, 'key'], '', 'is not the private key of the certificate in cert');
  return false;
}
