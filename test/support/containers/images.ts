import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readmeCommand } from '../compose/readme-commands.ts';
import type { ContainerHost } from './container-host.ts';
import { mustRun } from './run-command.ts';

/** From Debian: the image of BASE_IMAGE in the Dockerfiles, made here. */
const RELEASE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const BASE = 'localhost/base:test';
const NODE = 'localhost/node:test';

/** Requirements of container tests on the machine; see test/support/process/system-needs.ts. */
export const CONTAINER_COMMANDS = [
  ...['podman', 'runc', 'debootstrap', 'unshare', 'nsenter', 'ip', 'iptables', 'npx'],
] as const;
export const CONTAINER_FILES = [
  ...['/usr/lib/podman/netavark', '/usr/lib/podman/aardvark-dns', '/usr/bin/conmon'],
] as const;
/** Time limit of a first build, which downloads a base and builds everything. */
export const IMAGES_LIMIT_MS = 900_000;

/**
 * Builds `vedette-agent` and `vedette` by the command of the README, on a base made on this
 * machine, unless they exist: once per run of the system tests.
 */
export async function ensureImages(host: ContainerHost): Promise<void> {
  const isThere = async (image: string): Promise<boolean> =>
    (await host.tryPodman('image', 'exists', image)).code === 0;
  if (!(await isThere(BASE))) await makeBase(host);
  if (!(await isThere(NODE))) await makeNode(host);
  if ((await isThere('vedette-agent')) && (await isThere('vedette'))) return;
  const built = await host.buildScript(readmeCommand('docker-build'));
  if (built.code === 0) return;
  const output = `${built.stdout}\n${built.stderr}`.split('\n').slice(-40).join('\n');
  throw new Error(`the images cannot be built:\n${output}`);
}

/** The size that an image adds to Debian, in bytes, in total and by part. */
export interface PartBytes {
  readonly all: number;
  readonly node: number;
  /** Vedette and its npm packages. */
  readonly vedette: number;
  readonly debian: number;
}

export async function partBytes(host: ContainerHost, image: string): Promise<PartBytes> {
  const sizeOf = async (name: string): Promise<number> =>
    Number(await host.podman('image', 'inspect', '--format', '{{.Size}}', name));
  const inImage = async (path: string): Promise<number> => {
    // Not counting folders, whose size depends on the file system.
    const script = `find ${path} -type f -printf '%s\\n'`;
    const printed = await host.podman('run', '--rm', '--entrypoint', 'sh', image, '-c', script);
    return printed
      .trim()
      .split('\n')
      .reduce((sum, size) => sum + Number(size), 0);
  };
  const all = (await sizeOf(image)) - (await sizeOf(BASE));
  const node = await inImage('/usr/local/bin/node');
  const vedette = await inImage('/opt/vedette');
  return { all, node, vedette, debian: all - node - vedette };
}

/** The Debian packages that an image has and its base lacks. */
export async function packagesBeyondBase(
  host: ContainerHost,
  image: string,
): Promise<readonly string[]> {
  const packagesOf = async (name: string): Promise<readonly string[]> => {
    const query = ['dpkg-query', name, '--show', '--showformat', `$\{Package}\\n`];
    return (await host.podman('run', '--rm', '--entrypoint', ...query)).trim().split('\n');
  };
  const base = new Set(await packagesOf(BASE));
  return (await packagesOf(image)).filter((name) => !base.has(name));
}

/** Plain Debian, like its slim image. */
async function makeBase(host: ContainerHost): Promise<void> {
  const tree = join(host.folder, 'base');
  const archive = `${tree}.tar`;
  rmSync(tree, { recursive: true, force: true });
  await mustRun('debootstrap', ['--variant=minbase', RELEASE, tree, MIRROR]);
  await mustRun('tar', ['-C', tree, '--exclude=./var/cache/apt', '-cf', archive, '.']);
  await host.podman('import', '--quiet', archive, BASE);
  rmSync(tree, { recursive: true, force: true });
  rmSync(archive);
}

/** Node and npm in /usr/local, like Node's own image: the binary of the current LTS. */
async function makeNode(host: ContainerHost): Promise<void> {
  const folder = join(host.folder, 'node');
  mkdirSync(folder, { recursive: true });
  const print = ['--yes', '-p', 'node@24', 'node', '-p', 'process.execPath'];
  const binary = (await mustRun('npx', print, { env: process.env })).trim();
  const modules = (await mustRun('npm', ['root', '--global'], { env: process.env })).trim();
  copyFileSync(binary, join(folder, 'node'));
  cpSync(join(modules, 'npm'), join(folder, 'npm'), { recursive: true });
  const lines = [
    `FROM ${BASE}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
  ];
  // The machine may reach the registry through a proxy whose certificate only it trusts.
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? '';
  if (existsSync(certificates)) {
    copyFileSync(certificates, join(folder, 'roots.pem'));
    const at = '/usr/local/share/roots.pem';
    lines.push(`COPY roots.pem ${at}`, `ENV NODE_EXTRA_CA_CERTS=${at}`);
  }
  writeFileSync(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`);
  const how = ['--isolation=chroot', '--network=host', '--layers=false'];
  await host.podman('build', ...how, '--tag', NODE, folder);
  rmSync(folder, { recursive: true, force: true });
}
