import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

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
