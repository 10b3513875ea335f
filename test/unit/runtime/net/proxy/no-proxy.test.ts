import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { chooseProxy, NO_PROXIES } from '../../../../../src/runtime/net/proxy/choose-proxy.ts';
import { exemption } from '../../../../../src/runtime/net/proxy/no-proxy.ts';
import { parseProxy } from '../../../../../src/runtime/net/proxy/proxy-url.ts';

function isExempt(entry: string, url: string): boolean {
  const parsed = exemption(entry);
  if (!parsed.ok) throw new Error(`${entry} is refused`);
  const proxy = parseProxy('http://proxy.test:3128');
  return (
    chooseProxy({ https: proxy, http: proxy, exemptions: [parsed.value] }, new URL(url)) === null
  );
}

it.each([
  ['*', 'https://any.test'],
  ['example.com', 'https://example.com'],
  ['example.com', 'https://deep.sub.example.com'],
  ['.example.com', 'https://sub.example.com'],
  ['.example.com', 'https://example.com'],
  ['*.example.com', 'https://sub.example.com'],
  ['Example.COM.', 'https://EXAMPLE.com'],
  ['example.com', 'https://example.com.'],
  ['example.com:8443', 'https://sub.example.com:8443'],
  ['example.com:443', 'https://example.com'],
  ['example.com:80', 'http://example.com'],
  ['localhost', 'http://localhost:8080'],
  ['Bücher.example', 'https://www.xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'https://bücher.example'],
  ['192.0.2.7', 'http://192.0.2.7:8080'],
  ['192.0.2.7', 'http://0xC0000207/'],
  ['192.0.2.7:8080', 'http://192.0.2.7:8080'],
  ['192.0.2.0/24', 'https://192.0.2.200'],
  ['2001:db8::1', 'https://[2001:db8::1]'],
  ['[2001:db8::1]', 'https://[2001:DB8:0::1]:8443'],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ['2001:db8::/32', 'https://[2001:db8:5::1]'],
])('NO_PROXY=%s holds %s', (entry, url) => {
  expect(isExempt(entry, url)).toBe(true);
});

it.each([
  ['example.com', 'https://badexample.com'],
  ['example.com', 'https://example.com.evil.test'],
  ['sub.example.com', 'https://example.com'],
  ['.svc', 'https://minio.storage.svc.cluster.local'],
  ['example.com:8443', 'https://example.com'],
  ['192.0.2.0/24', 'https://192.0.3.1'],
  // No name is resolved for it.
  ['127.0.0.0/8', 'https://localhost'],
  ['::/0', 'https://192.0.2.1'],
  ['0.0.0.0/0', 'https://[2001:db8::1]'],
])('NO_PROXY=%s does not hold %s', (entry, url) => {
  expect(isExempt(entry, url)).toBe(false);
});

it('holds both names of a service in the cluster, with the NO_PROXY of docker/README.md', () => {
  const text = readFileSync('docker/README.md', 'utf8');
  const entries = /`NO_PROXY=(\S+)`/.exec(text)?.[1]?.split(',') ?? [];
  for (const host of ['minio.storage.svc', 'minio.storage.svc.cluster.local']) {
    expect(text).toContain(`\`${host}\``);
    expect(entries.filter((entry) => isExempt(entry, `http://${host}:9000`))).toHaveLength(1);
  }
});

it.each([
  'http://example.com',
  '192.0.2.0/33',
  '192.0.2.256',
  '192.0.2.*',
  'a*b.test',
  '*.*.test',
  'example.com:',
  'example.com:0',
  'example.com:99999',
  'example.com/24',
  '192.0.2.0/24:80',
  '[example.com]:80',
  '.',
  '**',
])('refuses %s', (entry) => {
  expect(exemption(entry)).toEqual({ ok: false, culprit: entry });
});

it('chooseProxy uses the proxy of the URL scheme', () => {
  const [https, http] = [parseProxy('secure.test:1'), parseProxy('plain.test:1')];
  const variables = (url: string) =>
    chooseProxy({ ...NO_PROXIES, https, http }, new URL(url))?.variable;
  expect(variables('https://a.test')).toBe('HTTPS_PROXY');
  expect(variables('http://a.test')).toBe('HTTP_PROXY');
  expect(chooseProxy({ ...NO_PROXIES, http }, new URL('https://a.test'))).toBeNull();
});
