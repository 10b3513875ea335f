import { isIP } from 'node:net';
import type { Clock } from '../../../../runtime/clock.ts';
import { withoutBrackets } from '../../../../runtime/net/endpoint-text.ts';
import type { JobLog } from '../../../probes/job-log.ts';
import type { Family, Resolution, ResolveOptions, Resolver } from '../../resolver.ts';
import { absoluteName, displayName } from '../message/names.ts';
import { askForAddresses } from './dns-source.ts';
import { CLibrary, type GetAddresses, getaddrinfo, mayKnow } from './getaddrinfo.ts';
import { findInHosts } from './hosts-file.ts';
import type { NameServers } from './name-servers.ts';
import { candidateNames } from './resolv-conf.ts';
import type { Missed, SourceResult } from './source-result.ts';
import {
  nameServersOf,
  openSystemFiles,
  SYSTEM_FILE_PATHS,
  type SystemFilePaths,
  type SystemFiles,
  usesResolvedStub,
} from './system-files.ts';

export interface SystemResolverOptions {
  readonly clock: Clock;
  readonly files?: Partial<SystemFilePaths>;
  /** Time limit of one look-up, within the caller's deadline; default 15,000 ms. */
  readonly limitMs?: number;
  /** The port of the name servers; default 53, since resolv.conf cannot name another. */
  readonly serverPort?: number;
  readonly getAddresses?: GetAddresses;
}

export interface SystemResolver extends Resolver {
  /** The name servers of resolv.conf, for DNS checks without a name server. */
  nameServers(): NameServers;
}

const LIMIT_MS = 15_000;
const DNS_PORT = 53;

/**
 * Looks names up as this system does (hosts file, resolv.conf with its search list, the order of
 * nsswitch.conf), but on its own sockets: a slow name server takes none of libuv's threads, and
 * every look-up ends at its own limit. Caches nothing, so that each look-up has its real duration.
 */
export function createSystemResolver(options: SystemResolverOptions): SystemResolver {
  const { clock, limitMs = LIMIT_MS, serverPort = DNS_PORT } = options;
  const files = openSystemFiles(clock, { ...SYSTEM_FILE_PATHS, ...options.files });
  const library = new CLibrary(options.getAddresses ?? getaddrinfo);
  let rotation = 0;
  const nameServers = (): NameServers => {
    rotation += 1;
    return nameServersOf(files.resolvConf().value, serverPort, rotation - 1);
  };
  return {
    nameServers,
    async resolve(hostname, family, { signal, deadlineMs, starvation, log }) {
      const known = resolveKnown(hostname, family);
      if (known !== null) return known;
      const name = absoluteName(hostname);
      if (name === null) {
        const message = `${hostname} is not a valid host name`;
        return { ok: false, failure: { code: 'DNS_NXDOMAIN', message } };
      }
      const ownDeadlineMs = Math.min(deadlineMs, clock.monotonicMs() + limitMs);
      const isAbsolute = hostname.endsWith('.');
      const limits = { clock, signal, log, deadlineMs: ownDeadlineMs, starvation };
      const lookUp: LookUp = { name, isAbsolute, family, limits, files, nameServers, library };
      warnOfProblems(files, log);
      const result = await askSources(lookUp);
      return result.kind === 'found'
        ? { ok: true, addresses: result.addresses }
        : { ok: false, failure: result.failure };
    },
  };
}

const LOOPBACK: Readonly<Record<Family, string>> = { 4: '127.0.0.1', 6: '::1' };

/**
 * Names that need no query: address literals (with or without a URL's brackets), and the names that
 * are always this host (RFC 6761 6.3). null for all others.
 */
function resolveKnown(hostname: string, family: Family): Resolution | null {
  const literal = withoutBrackets(hostname);
  const literalFamily = isIP(literal);
  if (literalFamily === family) return { ok: true, addresses: [literal] };
  if (literalFamily !== 0) {
    const message = `${literal} is an IPv${literalFamily} address, and IPv${family} was asked for`;
    return { ok: false, failure: { code: 'DNS_NO_ADDRESS', message } };
  }
  const isLocal = /^(.+\.)?localhost\.?$/i.test(hostname);
  return isLocal ? { ok: true, addresses: [LOOPBACK[family]] } : null;
}

interface LookUp {
  readonly name: string;
  /** Written with a trailing dot: the search list does not apply. */
  readonly isAbsolute: boolean;
  readonly family: Family;
  readonly limits: ResolveOptions & { readonly clock: Clock };
  readonly files: SystemFiles;
  readonly nameServers: () => NameServers;
  readonly library: CLibrary;
}

/**
 * The sources of nsswitch.conf: reads the hosts file and queries DNS in its order itself, then
 * calls the C library for all other sources that could know the name. The C library comes last
 * because it cannot skip the sources that were already queried.
 */
async function askSources(lookUp: LookUp): Promise<SourceResult> {
  const { name, family, limits, files, library } = lookUp;
  const { value: sources } = files.sources();
  let missed: Missed | null = null;
  for (const { name: source, returnOn } of sources) {
    if (source !== 'files' && source !== 'dns') continue;
    const result =
      source === 'dns' ? await askDns(lookUp) : findInHosts(files.hosts().value, name, family);
    if (result.kind !== 'missed') return result;
    missed = moreInformative(missed, result);
    if (returnOn.has(result.status)) return missed;
  }
  const usesStub = usesResolvedStub(files.resolvConf().value);
  const others = sources.filter((source) => mayKnow(source, name, usesStub));
  if (others.length > 0) {
    const names = others.map((source) => source.name).join(', ');
    limits.log.info(`Asking the C library for ${displayName(name)} (nsswitch.conf names ${names})`);
    const result = await library.find(lookUp.isAbsolute ? name : displayName(name), family, limits);
    if (result.kind !== 'missed') return result;
    return missed === null ? result : moreInformative(result, missed);
  }
  return missed ?? NO_SOURCE;
}

const NO_SOURCE: Missed = {
  kind: 'missed',
  status: 'UNAVAIL',
  failure: {
    code: 'DNS_NXDOMAIN',
    message: 'nsswitch.conf names no source to look host names up in',
  },
};

function askDns(lookUp: LookUp): Promise<SourceResult> {
  const { name, isAbsolute, family, limits, files, nameServers } = lookUp;
  const { value: conf } = files.resolvConf();
  return askForAddresses(candidateNames(name, isAbsolute, conf), family, nameServers(), {
    ...limits,
    protocol: conf.useTcp ? 'TCP' : 'UDP',
    authenticData: false,
  });
}

/** The second result, unless it only means that the name is unknown. */
function moreInformative(first: Missed | null, second: Missed): Missed {
  if (first === null || second.failure.code !== 'DNS_NXDOMAIN') return second;
  return first.failure.code === 'DNS_NXDOMAIN' ? second : first;
}

function warnOfProblems(files: SystemFiles, log: JobLog): void {
  for (const { problem } of [files.hosts(), files.resolvConf(), files.sources()]) {
    if (problem !== null) log.warn(problem);
  }
}
