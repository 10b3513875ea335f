import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BillOfMaterials, problemsOf } from '../../support/containers/bill-of-materials.ts';
import { mustRun } from '../../support/containers/run-command.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKING_LIMIT_MS = 300_000;
const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
/** Bundled in the built dashboard, so the package contains them. */
const BUNDLED = ['@preact/signals', 'openapi-fetch', 'preact', 'preact-iso', 'uplot'];
/** Others are also dependencies of dependencies. */
const OF_DEVELOPMENT = ['@biomejs/biome', 'playwright-core', 'typescript', 'vite', 'vitest'];

const folder = makeTempFolder();
let archive = '';

const inArchive = (path: string): Promise<string> =>
  mustRun('tar', ['-xzOf', archive, `package/${path}`]);

beforeAll(async () => {
  const script = join(ROOT, 'docker/release/release.sh');
  // A fresh copy would be installed and built, which takes minutes.
  const env = { ...process.env, RELEASE_FOLDER: folder.path, PACKAGE_FOLDER: ROOT };
  await mustRun('bash', [script, version, 'package', 'checksums'], { env });
  archive = folder.file(`vedette-npm-${version}.tgz`);
}, PACKING_LIMIT_MS);
afterAll(() => folder.remove());

it('the npm package has a bill of materials of its dependencies and of those bundled in its dashboard', async () => {
  const bill = JSON.parse(await inArchive('dist/sbom.cdx.json')) as BillOfMaterials;
  expect(problemsOf(bill)).toEqual([]);
  const main = `vedette@${version}`;
  expect(bill.metadata.component['bom-ref']).toBe(main);
  const names = new Set(bill.components.map(({ name }) => name));
  const needed = [...Object.keys(dependencies), ...BUNDLED];
  expect(needed.filter((name) => !names.has(name))).toEqual([]);
  expect(OF_DEVELOPMENT.filter((name) => names.has(name))).toEqual([]);
  const root = bill.dependencies.find(({ ref }) => ref === main);
  expect(root?.dependsOn.length).toBeGreaterThan(Object.keys(dependencies).length);
});

it('the npm package has the licence of each component, with the texts of those bundled in its dashboard', async () => {
  const bill = JSON.parse(await inArchive('dist/sbom.cdx.json')) as BillOfMaterials;
  const text = await inArchive('dist/third-party-licenses.txt');
  const labels = bill.components.map((component) => `${component.name} ${component.version}: `);
  expect(labels.filter((label) => !text.includes(`\n${label}`))).toEqual([]);
  for (const name of BUNDLED) expect(text).toMatch(new RegExp(`^${name} [\\d.]+: MIT$`, 'm'));
  expect(text).toContain('Permission is hereby granted, free of charge');
});

it('the checksums of a release match its files', async () => {
  const checked = await mustRun('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder.path });
  const files = ['cdx.json', 'licenses.txt', 'tgz'].map((kind) => `vedette-npm-${version}.${kind}`);
  expect(checked.trim().split('\n')).toEqual(files.map((file) => `${file}: OK`));
});

it('the npm package has the program and its documents, and neither sources nor tests', async () => {
  const files = (await mustRun('tar', ['-tzf', archive])).trim().split('\n');
  for (const path of ['dist/cli/main.js', 'dist/web/dashboard/index.html', 'src/model/README.md'])
    expect(files).toContain(`package/${path}`);
  expect(files.filter((path) => /\.tsx?$|\.tsbuildinfo$|^package\/test\//.test(path))).toEqual([]);
});
