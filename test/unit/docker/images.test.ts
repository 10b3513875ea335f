import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commandsIn,
  documentedCommands,
  readmeCommand,
} from '../../support/compose/readme-commands.ts';
import { agentImageContents } from '../../support/containers/image-contents.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const DOCKERFILES = ['docker/agent.Dockerfile', 'docker/service.Dockerfile'];

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** The optional dependencies of a package that are each for one platform. */
function nativeParts({ optionalDependencies = {} }: LockedPackage): readonly LockedPackage[] {
  return Object.keys(optionalDependencies)
    .map((name) => packages[`node_modules/${name}`])
    .filter((part) => part !== undefined)
    .filter(({ cpu }) => cpu !== undefined);
}

/** Debian's: with glibc. */
function isFor(cpu: string, { os = [], cpu: cpus = [], libc = ['glibc'] }: LockedPackage): boolean {
  return os.includes('linux') && cpus.includes(cpu) && libc.includes('glibc');
}

describe('the images', () => {
  it.each(['x64', 'arm64'])('have every native package prebuilt for %s', (cpu) => {
    // A native package may need a library of its platform, which is a native package itself.
    const native = Object.entries(packages).filter(
      ([, each]) => nativeParts(each).length > 0 && (each.cpu === undefined || isFor(cpu, each)),
    );
    expect(native.map(([path]) => path)).toContain('node_modules/koffi');
    const lacking = native.filter(
      ([, each]) => !nativeParts(each).some((part) => isFor(cpu, part)),
    );
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  it('need no package that is compiled during the installation', () => {
    const built = Object.entries(packages)
      .filter(([path, { dev, optional }]) => path !== '' && dev !== true && optional !== true)
      .filter(([, each]) => each.hasInstallScript === true && nativeParts(each).length === 0);
    expect(built.map(([path]) => path)).toEqual([]);
  });

  it.each(DOCKERFILES)('%s has the version of the package', (file) => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(read(file)).toContain(`\nARG VERSION=${version}\n`);
  });

  it.each(DOCKERFILES)('%s leaves nothing that its user could not read', (file) => {
    const [build = '', image = ''] = read(file).split(/^FROM \$\{BASE_IMAGE\}$/m);
    // COPY keeps the modes of the checkout.
    expect(build.trimEnd()).toMatch(/ && chmod -R a\+rX \/image$/);
    expect(image.match(/^COPY .+$/gm)).toEqual([
      'COPY --from=build /node /usr/local/bin/node',
      'COPY --from=build /image/ /',
    ]);
  });

  it("the agent's image installs no Debian package that its list in the README lacks", () => {
    const [, image = ''] = read('docker/agent.Dockerfile').split(/^FROM \$\{BASE_IMAGE\}$/m);
    const [, names = ''] = /apt-get install[^\n]*\\\n([^\\]+)\\\n/.exec(image) ?? [];
    const installed = names.trim().split(/\s+/);
    expect(installed).toContain('tcpdump');
    const { debian } = agentImageContents();
    // It is removed in the same step.
    expect(image).toContain('purge -q -y --auto-remove libcap2-bin');
    const kept = installed.filter((name) => name !== 'libcap2-bin');
    expect(kept.filter((name) => !debian.has(name))).toEqual([]);
  });

  it('are built from the same files, with common steps that run once', () => {
    const steps = DOCKERFILES.map((file) =>
      read(file)
        .replace(/^#.*\n/gm, '')
        .split('RUN node docker/assemble-image.mjs', 1),
    );
    expect(steps[0]).toEqual(steps[1]);
    const [agent, service] = DOCKERFILES.map((file) => read(`${file}.dockerignore`));
    expect(agent).toBe(service);
    for (const [, path = ''] of (agent ?? '').matchAll(/^!(.+)$/gm)) {
      expect(readdirSync(join(ROOT, path, '..'))).toContain(path.split('/').at(-1));
    }
  });
});

describe('commands of the README', () => {
  it('are the blocks of shell after their markers', () => {
    const text =
      'Text\n<!-- command: one -->\n```sh\nfirst \\\n  --on\n```\n\n```sh\nno\n```\n' +
      '<!-- command: two -->\n```sh\nsecond\n```\n';
    expect([...commandsIn(text)]).toEqual([
      ['one', 'first \\\n  --on\n'],
      ['two', 'second\n'],
    ]);
  });

  it('give no secret as an argument, which all users of the machine could read', () => {
    const commands = [...documentedCommands()];
    const openly = commands.filter(([, text]) => /--from-literal|--command .*\$/.test(text));
    expect(openly).toEqual([]);
    expect(commands.length).toBeGreaterThan(15);
  });

  it('cannot lose their block or their marker unnoticed', () => {
    expect(() => commandsIn('<!-- command: one -->\n\n```sh\nx\n```\n')).toThrow('one');
    expect(() => readmeCommand('no-such-command')).toThrow('no-such-command');
  });
});
