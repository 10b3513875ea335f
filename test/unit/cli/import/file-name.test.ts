import { expect, it } from 'vitest';
import { parseSourceText } from '../../../../src/cli/import/common/source-file.ts';
import { importedFileName } from '../../../../src/cli/import/file-name.ts';
import { importSourceText } from '../../../support/import-sources.ts';

const nameOf = (output: string | null, source: string): string =>
  importedFileName(output, [parseSourceText(importSourceText(source), source)]);

it.each([
  ['kuma.yaml', 'kuma'],
  ['/srv/checks/shop.v2.YML', 'shop.v2'],
  ['my checks.json', 'my-checks'],
  ['checks', 'checks'],
  [`${'a'.repeat(120)}.yaml`, 'a'.repeat(100)],
  ['プローブ.yaml', 'uptime-kuma'],
])('an imported file that is written to %s has the name %s', (output, name) => {
  expect(nameOf(output, 'uptime-kuma.json')).toBe(name);
});

it.each([
  ['blackbox.yml', 'blackbox'],
  ['prometheus.yml', 'blackbox'],
  ['targets.json', 'file-sd'],
  ['gatus.yaml', 'gatus'],
  ['uptime-kuma.json', 'uptime-kuma'],
])('an import of %s to stdout has the name %s', (source, name) => {
  expect(nameOf(null, source)).toBe(name);
});
