import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './run-command.ts';

/** Folders of a separate podman. */
export interface Storage {
  readonly environment: Readonly<Record<string, string>>;
}

/** Capabilities that a Docker engine leaves to containers. */
const DOCKER_CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD'],
  ...['NET_BIND_SERVICE', 'NET_RAW', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

/** Writes podman's configuration to the folder, so that it does not touch the machine's podman. */
export async function storageFor(folder: string): Promise<Storage> {
  const at = (name: string): string => join(folder, name);
  for (const name of ['root', 'run', 'tmp', 'networks']) mkdirSync(at(name), { recursive: true });
  const driver = (await canOverlay(folder)) ? 'overlay' : 'vfs';
  writeFileSync(
    at('storage.conf'),
    `[storage]
driver = "${driver}"
graphroot = "${at('root')}"
runroot = "${at('run')}"
`,
  );
  // The machine's own limits; there is no systemd for cgroups or logs.
  writeFileSync(
    at('containers.conf'),
    `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4000:4000"]
default_capabilities = [${DOCKER_CAPABILITIES.map((name) => `"${name}"`).join(', ')}]
default_sysctls = []
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
tmp_dir = "${at('tmp')}"
static_dir = "${at('root')}/libpod"
volume_path = "${at('root')}/volumes"
[network]
network_backend = "netavark"
network_config_dir = "${at('networks')}"
`,
  );
  return {
    environment: {
      CONTAINERS_CONF: at('containers.conf'),
      CONTAINERS_STORAGE_CONF: at('storage.conf'),
      TMPDIR: at('tmp'),
      // If layers were copied, each step would copy the whole image.
      ...(driver === 'vfs' ? { BUILDAH_LAYERS: 'false' } : {}),
    },
  };
}

/** Overlay layers avoid copies, but not every file system supports them. */
async function canOverlay(folder: string): Promise<boolean> {
  const at = (name: string): string => join(folder, 'trial', name);
  for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(at(name), { recursive: true });
  const options = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`;
  // Mounted in its own namespace, so the mount ends with it.
  const mount = ['mount', '-t', 'overlay', 'overlay', '-o', options, at('merged')];
  const { code } = await runToEnd('unshare', ['--mount', ...mount]);
  rmSync(join(folder, 'trial'), { recursive: true, force: true });
  return code === 0;
}
