import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly license?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** Their only condition is that their notice is passed on, as in third-party-licenses.txt. */
const PERMISSIVE = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'],
]);
/** libvips: a shared library, unchanged, which a user of the service's image can replace. */
const LIBRARY = { package: /^node_modules\/@img\/sharp-/, licence: 'LGPL-3.0-or-later' };

it('the dependencies in images and package have permissive licences, except libvips of sharp', () => {
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect(shipped.length).toBeGreaterThan(100);
  const mayBe = (id: string, path: string): boolean =>
    PERMISSIVE.has(id) || (id === LIBRARY.licence && LIBRARY.package.test(path));
  const others = shipped.filter(
    ([path, { license = 'UNKNOWN' }]) => !license.split(' AND ').every((id) => mayBe(id, path)),
  );
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

it('the lockfile holds no addresses of a registry', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual(
    [],
  );
});

it('the lockfile names the packages of all platforms, without which npm 11 refuses it', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`node_modules/${name}`] === undefined &&
        packages[`${path}/node_modules/${name}`] === undefined,
    ),
  );
  expect(missing).toEqual([]);
});
