/**
 * The `application_name` of a replica's connections, from which other replicas learn what it can read. For
 * example `vedette/3 1f2e3d4c,5b6a7988` with the fingerprints of its keys.
 *
 * The number increases with each release that stores something earlier releases cannot read. `vedette` without
 * a number cannot read encrypted credentials; `vedette/2` cannot read encrypted user names.
 */
const NAME = 'vedette';
const RELEASE = 3;
/** Hex digits: the start of a key's public name. */
const FINGERPRINT_LENGTH = 8;
/** PostgreSQL truncates the name to 63 bytes. Further keys of a replica count as missing. */
const MAX_FINGERPRINTS = 6;

export function replicaName(keyNames: readonly string[]): string {
  const named = keyNames.slice(0, MAX_FINGERPRINTS).map(fingerprintOf);
  return [`${NAME}/${RELEASE}`, named.join(',')].join(' ').trim();
}

/** Whether a replica of this name can decrypt what this release encrypts with this key. */
export function readsKey(name: string, keyName: string): boolean {
  const [release = '', fingerprints = ''] = name.split(' ');
  const [product, number] = release.split('/');
  // A later release reads what this one stores.
  if (product !== NAME || !(Number(number) >= RELEASE)) return false;
  return fingerprints.split(',').includes(fingerprintOf(keyName));
}

function fingerprintOf(keyName: string): string {
  return keyName.slice(0, FINGERPRINT_LENGTH);
}
