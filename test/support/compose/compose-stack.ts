import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { ContainerHost } from '../containers/container-host.ts';
import { ensureImages } from '../containers/images.ts';
import { requestThrough } from '../containers/port-forward.ts';
import type { CommandEnd } from '../containers/run-command.ts';
import { until } from '../service/deployment.ts';
import type { Ask, Reply } from '../service/service-app.ts';
import { COMPOSE, composeFile, composeService, mountOf } from './compose-file.ts';

const STORE = fileURLToPath(new URL('store.mjs', import.meta.url));

/**
 * Our own services of docker/compose.yaml, each as a container with the file's settings, which the
 * tests start one after the other. The test machine has no compose and no registry for other
 * images.
 */
export class ComposeStack {
  readonly host: ContainerHost;

  private constructor(host: ContainerHost) {
    this.host = host;
  }

  /** Creates the networks, and a replacement of the store that can create buckets. */
  static async open(): Promise<ComposeStack> {
    const host = await ContainerHost.open(inject('containersFolder'));
    await ensureImages(host);
    for (const [name, { internal = false }] of Object.entries(composeFile().networks)) {
      await host.podman('network', 'create', ...(internal ? ['--internal'] : []), name);
    }
    const { environment, networks = [] } = composeService('store');
    const port = environment?.VGW_PORT?.slice(1) ?? '';
    await host.podman(
      ...['run', '--detach', '--name', 'store', ...networks.flatMap((name) => ['--network', name])],
      ...['--volume', `${STORE}:/store.mjs:ro`, '--entrypoint', '/usr/local/bin/node'],
      ...['vedette', '/store.mjs', port],
    );
    await host.container('store').logged(/the store listens/);
    return new ComposeStack(host);
  }

  /** Runs a service that ends by itself, to its end. */
  once(name: string): Promise<CommandEnd> {
    return this.host.tryPodman('run', '--rm', ...containerArguments(name));
  }

  /** Starts a long-running service, and waits until its healthcheck passes. */
  async start(name: string): Promise<void> {
    await this.host.podman('run', '--detach', ...containerArguments(name));
    const [, ...command] = composeService(name).healthcheck?.test ?? [];
    const container = this.host.container(name);
    const isWell = await until(
      async () => {
        if ((await container.pid()) === 0) return null;
        return (await container.exec(...command)).code === 0;
      },
      (well) => well !== false,
    );
    if (isWell === null) throw new Error(`${name} has ended:\n${await container.logs()}`);
  }

  /** Calls the service at its published port, with the key of the first admin. */
  async ask(path: string, ask: Ask = {}): Promise<Reply> {
    const [, port] =
      /^127\.0\.0\.1:\D+(\d+)\}:/.exec(composeService('service').ports?.[0] ?? '') ?? [];
    const key = await this.host
      .container('service')
      .exec('cat', '/run/secrets-service/FIRST_API_KEY');
    const socketPath = await this.host.forwardPort(Number(port));
    return requestThrough(socketPath, path, { key: key.stdout.trim(), ...ask });
  }
}

/** Arguments of `podman run` for a service, without limits, restarts and health. */
function containerArguments(name: string): readonly string[] {
  const service = composeService(name);
  const { entrypoint = [], command = [], user, working_dir: folder } = service;
  const grace = service.stop_grace_period;
  const [program, ...words] = entrypoint;
  const networks =
    service.network_mode === undefined ? (service.networks ?? []) : [service.network_mode];
  const mounts = (service.volumes ?? []).map(mountOf).map(({ source, target, options }) => {
    const from = source.startsWith('.') ? join(dirname(COMPOSE), source) : source;
    return `${from}:${target}${options.includes('ro') ? ':ro' : ''}`;
  });
  return [
    // Podman leaves the image's own healthcheck to systemd; the tests run that of the file.
    ...['--name', name, '--no-healthcheck'],
    ...(service.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...service.cap_drop.map((each) => `--cap-drop=${each}`),
    // Podman prints it without a value.
    ...service.security_opt.map((each) => `--security-opt=${each.replace(':true', '')}`),
    ...(grace === undefined ? [] : ['--stop-timeout', String(Number.parseInt(grace, 10))]),
    ...(user === undefined ? [] : ['--user', user]),
    ...(folder === undefined ? [] : ['--workdir', folder]),
    ...networks.flatMap((each) => ['--network', each]),
    ...(service.ports ?? []).flatMap((each) => [
      '--publish',
      each.replace(/\$\{\w+:-(\d+)\}/, '$1'),
    ]),
    ...mounts.flatMap((each) => ['--volume', each]),
    ...(service.tmpfs ?? []).flatMap((each) => ['--tmpfs', each]),
    ...Object.entries(service.sysctls ?? {}).flatMap(([key, value]) => [
      '--sysctl',
      `${key}=${value}`,
    ]),
    ...Object.entries(service.environment ?? {}).flatMap(([key, value]) => [
      '--env',
      `${key}=${value}`,
    ]),
    ...(program === undefined ? [] : ['--entrypoint', program]),
    service.image,
    ...words,
    ...command,
  ];
}
