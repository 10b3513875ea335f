import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRunConfig } from '../../../../src/agent/config/agent-config.ts';
import { createAuthority } from '../../../support/servers/certificates.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vedette-ca-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const load = (path: string) => loadRunConfig({ NODE_EXTRA_CA_CERTS: path });

it('NODE_EXTRA_CA_CERTS takes a file with comments and certificates', async () => {
  const path = join(folder, 'good.pem');
  const { cert } = await createAuthority();
  await writeFile(path, `# our own root\n${cert}\n${cert}`);
  expect(load(path).extraRootsPem).toContain(cert);
});

it('NODE_EXTRA_CA_CERTS is refused where Node would only warn', async () => {
  const path = join(folder, 'text.pem');
  await writeFile(path, 'not a certificate\n');
  expect(() => load(path)).toThrow(`NODE_EXTRA_CA_CERTS is "${path}", which contains no PEM`);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  await writeFile(path, broken);
  expect(() => load(path)).toThrow('contains no PEM certificate');
  await writeFile(path, new X509Certificate((await createAuthority()).cert).raw);
  expect(() => load(path)).toThrow('contains no PEM certificate');
  expect(() => load('/dev/zero')).toThrow('which is not a regular file');
  expect(() => load(join(folder, 'none.pem'))).toThrow('which does not exist; it must be');
  expect(() => load(folder)).toThrow('which is a directory');
});
