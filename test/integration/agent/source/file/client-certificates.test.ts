import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import { loadCheckFile } from '../../../../../src/agent/source/file/load-check-file.ts';
import { createAuthority, type Identity } from '../../../../support/servers/certificates.ts';

const CHECKS = [{ id: 'a', checkType: 'URL', request: { url: 'http://localhost/' } }];

let folder: string;
let ca: string;
let one: Identity;
let other: Identity;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vedette-certs-'));
  const authority = await createAuthority();
  ca = authority.cert;
  [one, other] = await Promise.all([authority.issue(), authority.issue()]);
  const encrypted = createPrivateKey(one.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'correct horse',
  });
  const files = { 'one.pem': one.cert, 'one.key': one.key, 'ca.pem': ca, 'locked.key': encrypted };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, 'empty.pem'), '');
});

afterAll(() => rmSync(folder, { recursive: true }));

function load(...clientCertificates: readonly unknown[]) {
  const file = join(folder, 'checks.json');
  writeFileSync(file, JSON.stringify({ checks: CHECKS, clientCertificates }));
  return loadCheckFile(file);
}

async function problemOf(certificate: unknown): Promise<string> {
  const error = await load(certificate).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FileProblemsError)) throw new Error('there is no problem');
  return error.lines().join('\n');
}

describe('client certificates of a check file', () => {
  it('are read from PEM files beside it', async () => {
    const { clientCertificates, pemFiles } = await load({
      host: '*.shop.test',
      cert: 'one.pem',
      key: './one.key',
      ca: join(folder, 'ca.pem'),
    });
    expect(clientCertificates).toEqual([
      { host: '*.shop.test', cert: one.cert, key: one.key, ca, passphrase: null },
    ]);
    expect(pemFiles).toEqual(['one.pem', 'one.key', 'ca.pem'].map((name) => join(folder, name)));
  });

  it('are accepted as text, and keys with their passphrase', async () => {
    const { clientCertificates, pemFiles } = await load(
      { host: 'a.test', cert: one.cert, key: one.key },
      { host: 'b.test', cert: one.cert, key: 'locked.key', passphrase: 'correct horse', ca: null },
      { host: '[::1]', cert: one.cert, key: one.key },
    );
    expect(clientCertificates[0]).toEqual({
      host: 'a.test',
      cert: one.cert,
      key: one.key,
      ca: null,
      passphrase: null,
    });
    expect(clientCertificates[1]).toMatchObject({ host: 'b.test', passphrase: 'correct horse' });
    expect(clientCertificates[2]).toMatchObject({ host: '[::1]' });
    expect(pemFiles).toEqual([join(folder, 'locked.key')]);
  });

  it('are refused if they cannot be used', async () => {
    const valid = { host: 'a.test', cert: 'one.pem', key: 'one.key' };
    expect(await problemOf({ ...valid, key: other.key })).toContain(
      'clientCertificates[0].key is not the private key of the certificate in cert',
    );
    expect(await problemOf({ ...valid, cert: 'none.pem' })).toContain(
      `.cert names the PEM file "${join(folder, 'none.pem')}", which cannot be read (ENOENT)`,
    );
    expect(await problemOf({ ...valid, cert: '.' })).toContain('which is not a regular file');
    expect(await problemOf({ ...valid, ca: 'empty.pem' })).toContain('which contains no PEM text');
    expect(await problemOf({ ...valid, key: 'locked.key' })).toContain(
      '.key cannot be used as a private key',
    );
    expect(await problemOf({ ...valid, key: undefined })).toContain('.key is missing');
    expect(await problemOf({ ...valid, host: 'https://a.test' })).toContain(
      '.host must be a host name or an IP address without scheme and port',
    );
    expect(await problemOf({ ...valid, host: '[::1]:443' })).toContain('.host must be');
    expect(await problemOf({ ...valid, certFile: 'x' })).toContain(
      '.certFile is not a known key; did you mean cert?',
    );
    expect(await problemOf('x')).toContain('must be a mapping with host, cert and key');
  });

  it('have the problems of all their fields reported at once', async () => {
    const broken = { host: 'https://a.test', cert: 'one.pem', key: other.key, certFile: 'x' };
    const problems = await problemOf(broken);
    expect(problems).toContain('.host must be a host name');
    expect(problems).toContain('.certFile is not a known key');
    expect(problems).toContain('.key is not the private key of the certificate in cert');
  });

  it('never have a key or passphrase repeated in a message', async () => {
    const certificate = { host: 'a.test', cert: 'one.pem' };
    const broken = other.key.replace('-----BEGIN', '--BEGIN');
    expect(await problemOf({ ...certificate, key: broken })).not.toContain(other.key.slice(40, 60));
    expect(
      await problemOf({ ...certificate, key: 'locked.key', passphrase: 'wrong horse' }),
    ).not.toContain('wrong horse');
    expect(await problemOf({ ...certificate, key: one.key, passphrase: 71077345 })).not.toContain(
      '71077345',
    );
  });
});
