import { hostname } from 'node:os';
import type { Clock } from '../../../../runtime/clock.ts';
import { type HostsFile, parseHosts } from './hosts-file.ts';
import type { NameServers } from './name-servers.ts';
import { type NameSource, parseNsswitch } from './nsswitch.ts';
import { parseResolvConf, type ResolvConf } from './resolv-conf.ts';
import { type FileView, watchFile } from './watched-file.ts';

export interface SystemFilePaths {
  readonly hosts: string;
  readonly resolvConf: string;
  readonly nsswitch: string;
}

export const SYSTEM_FILE_PATHS: SystemFilePaths = {
  hosts: '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
  nsswitch: '/etc/nsswitch.conf',
};

/** About 40,000 lines, which take about 20 ms to read. */
const MAX_HOSTS_BYTES = 2_097_152;
const MAX_CONF_BYTES = 65_536;

/** The files that configure how this system looks names up, with their current content. */
export interface SystemFiles {
  hosts(): FileView<HostsFile>;
  resolvConf(): FileView<ResolvConf>;
  sources(): FileView<readonly NameSource[]>;
}

export function openSystemFiles(clock: Clock, paths: SystemFilePaths): SystemFiles {
  const conf = { clock, maxBytes: MAX_CONF_BYTES };
  return {
    hosts: watchFile(paths.hosts, { clock, maxBytes: MAX_HOSTS_BYTES }, parseHosts),
    resolvConf: watchFile(paths.resolvConf, conf, (text) => parseResolvConf(text, hostname())),
    sources: watchFile(paths.nsswitch, conf, parseNsswitch),
  };
}

/** The servers of resolv.conf; with `rotate`, starts with the one at `rotation`. */
export function nameServersOf(conf: ResolvConf, port: number, rotation: number): NameServers {
  const servers = conf.nameServers.map((address) => ({ address, port }));
  const start = conf.rotate ? rotation % servers.length : 0;
  const [first = { address: '127.0.0.1', port }, ...rest] = [
    ...servers.slice(start),
    ...servers.slice(0, start),
  ];
  return { servers: [first, ...rest], timeoutMs: conf.timeoutMs, attempts: conf.attempts };
}

/** resolv.conf names the local server of systemd-resolved (127.0.0.53, 127.0.0.54). */
export function usesResolvedStub({ nameServers }: ResolvConf): boolean {
  return nameServers.some((address) => address === '127.0.0.53' || address === '127.0.0.54');
}
