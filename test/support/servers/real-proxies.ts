import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeTestFolder } from '../process/test-folder.ts';
import type { Identity } from './certificates.ts';
import { listen } from './http-servers.ts';

/** A Debian-packaged proxy on loopback. It ends with the test. */
export interface RealProxy {
  readonly port: number;
  /** Its request log so far, one request a line. */
  requests(): readonly string[];
  /** Ends it, and waits for its end. */
  stop(): Promise<void>;
}

export interface RealProxyOptions {
  /** Any free port by default. */
  readonly port?: number;
  /** Required of clients; none by default. */
  readonly credentials?: { readonly user: string; readonly password: string };
}

export interface TinyproxyOptions extends RealProxyOptions {
  /** The allowed ports of CONNECT; any by default. */
  readonly connectPorts?: readonly number[];
}

export async function startTinyproxy(options: TinyproxyOptions = {}): Promise<RealProxy> {
  const { port = await freePort(), credentials, connectPorts = [] } = options;
  const folder = makeTestFolder();
  const log = join(folder, 'log');
  const config = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 600',
    'MaxClients 100',
    `LogFile "${log}"`,
    'LogLevel Connect',
    ...(credentials === undefined ? [] : [`BasicAuth ${credentials.user} ${credentials.password}`]),
    ...connectPorts.map((each) => `ConnectPort ${each}`),
  ];
  const file = join(folder, 'tinyproxy.conf');
  writeFileSync(file, `${config.join('\n')}\n`);
  return await startServer(['tinyproxy', '-d', '-c', file], port, log, / Request .*?: (.*)$/);
}

export interface SquidOptions extends RealProxyOptions {
  /** If set, it speaks TLS itself. */
  readonly identity?: Identity;
}

export async function startSquid(options: SquidOptions = {}): Promise<RealProxy> {
  const { port = await freePort(), credentials, identity } = options;
  const folder = makeTestFolder();
  // It drops root at its start.
  chmodSync(folder, 0o777);
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o644 });
    return path;
  };
  const log = join(folder, 'access.log');
  const secure =
    identity === undefined
      ? ''
      : ` tls-cert=${write('cert.pem', identity.cert)} tls-key=${write('key.pem', identity.key)}`;
  const config = [
    `${identity === undefined ? 'http_port' : 'https_port'} 127.0.0.1:${port}${secure}`,
    `access_log stdio:${log}`,
    'cache_log /dev/null',
    'pid_filename none',
    'cache deny all',
    'pinger_enable off',
    'netdb_filename none',
    `coredump_dir ${folder}`,
    'shutdown_lifetime 0 seconds',
    'visible_hostname proxy.test',
    'hosts_file /etc/hosts',
    ...(credentials === undefined
      ? ['http_access allow all']
      : [
          `auth_param basic program /bin/sh ${write('helper', helperFor(credentials))}`,
          'acl known proxy_auth REQUIRED',
          'http_access allow known',
          'http_access deny all',
        ]),
  ];
  const file = write('squid.conf', `${config.join('\n')}\n`);
  return await startServer(['squid', '-N', '-f', file], port, log, /\S+ \S+\/\d+ \d+ (\S+ \S+) /);
}

/** Squid queries it by lines of a user and a password. */
function helperFor({ user, password }: { user: string; password: string }): string {
  return `while read -r line; do [ "$line" = '${user} ${password}' ] && echo OK || echo ERR; done\n`;
}

/** Resolves when it accepts connections; rejects with its output if it ends. */
export async function startServer(
  [command = '', ...args]: readonly string[],
  port: number,
  log: string,
  request: RegExp,
): Promise<RealProxy> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  let isEnded = false;
  const ended = once(child, 'close').then(() => {
    isEnded = true;
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(stop);
  while (!listensOn(port)) {
    if (isEnded) throw new Error(`${command} ended: ${said}`);
    // Its start sends no event.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    port,
    stop,
    requests() {
      const lines = readFileSync(log, 'utf8').split('\n');
      return lines.flatMap((line) => request.exec(line)?.[1] ?? []);
    },
  };
}

/** Reads the kernel's table, so that no connection of the test is in the proxy's log. */
function listensOn(port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
  return readFileSync('/proc/net/tcp', 'utf8').includes(wanted);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
