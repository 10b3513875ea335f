import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

export type CaFile =
  | { readonly ok: true; readonly pem: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the file of NODE_EXTRA_CA_CERTS, or returns why Node would not use it. Node itself only
 * prints a warning, and then every check of a host with a certificate of that authority fails.
 */
export function readCaFile(path: string): CaFile {
  const refuse = (problem: string): CaFile => ({ ok: false, problem });
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return refuse('is a directory');
    // A pipe would be empty when Node reads it, and a device has no end.
    if (!stats.isFile()) return refuse('is not a regular file');
    if (stats.size > MAX_FILE_BYTES) return refuse('is larger than 16 MiB');
    const bytes = readFileSync(path);
    if (!hasCertificate(bytes)) return refuse('contains no PEM certificate');
    return { ok: true, pem: bytes.toString('utf8') };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT') return refuse('does not exist');
    if (code === 'EACCES' || code === 'EPERM') return refuse('may not be read by this user');
    return refuse(`cannot be read (${code ?? messageOf(error)})`);
  }
}

function hasCertificate(bytes: Buffer): boolean {
  // The parser accepts DER, too; Node does not here.
  if (!bytes.includes('-----BEGIN ')) return false;
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}
