import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StartTlsProtocol } from '../../../src/model/check/request/tcp.ts';
import { findPostgres, startPostgres } from '../database/postgres.ts';
import { endChild } from '../process/end-child.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import type { Identity } from '../servers/certificates.ts';
import { listen } from '../servers/http-servers.ts';

/** Debian's servers of the protocols that upgrade to TLS, on free ports of loopback. */
export interface RealServers {
  readonly ports: Readonly<Record<StartTlsProtocol, number>>;
  stop(): Promise<void>;
}

/** Where Debian has them, which may not be on PATH. */
export const REAL_SERVERS = [
  '/usr/sbin/exim4',
  '/usr/sbin/dovecot',
  '/usr/sbin/slapd',
  '/usr/sbin/mariadbd',
  '/usr/sbin/vsftpd',
  '/usr/bin/prosody',
];

/** Debian's nobody and nogroup: prosody refuses to run as root. */
const NOBODY = { uid: 65534, gid: 65534 };

export { findPostgres };

/** Starts all of them at once, with one certificate. Needs root: some of them change their user. */
export async function startRealServers(identity: Identity): Promise<RealServers> {
  const folder = makeTempFolder();
  // Some of them drop root at their start.
  chmodSync(folder.path, 0o777);
  const write = (name: string, lines: readonly string[]): string => {
    const path = folder.file(name);
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o644 });
    return path;
  };
  const cert = write('cert.pem', [identity.cert]);
  const key = write('key.pem', [identity.key]);
  const made = (name: string, mode = 0o777): string => {
    const path = folder.file(name);
    mkdirSync(path);
    chmodSync(path, mode);
    return path;
  };
  const [smtp, imap, pop3, ftp, ldap, mysql, xmpp] = await Promise.all(
    Array.from({ length: 7 }, () => freePort()),
  );
  const children: ChildProcess[] = [];
  const startAs = async (
    user: SpawnOptions,
    port: number | undefined,
    [command = '', ...args]: readonly string[],
  ) => {
    const child = spawn(command, args, {
      ...user,
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: folder.path,
    });
    children.push(child);
    await listensOn(port ?? 0, child);
  };
  const start = (port: number | undefined, ...command: string[]) => startAs({}, port, command);
  const exim = write('exim.conf', [
    'primary_hostname = mail.test',
    `daemon_smtp_ports = ${smtp}`,
    'local_interfaces = 127.0.0.1',
    `spool_directory = ${made('exim')}`,
    `log_file_path = ${join(folder.path, 'exim', 'log-%s')}`,
    'tls_advertise_hosts = *',
    `tls_certificate = ${cert}`,
    `tls_privatekey = ${key}`,
  ]);
  const dovecot = write('dovecot.conf', [
    `base_dir = ${made('dovecot')}`,
    'protocols = imap pop3',
    'listen = 127.0.0.1',
    `log_path = ${folder.file('dovecot.log')}`,
    'ssl = required',
    `ssl_cert = <${cert}`,
    `ssl_key = <${key}`,
    'passdb {\n driver = static\n args = nopassword=y\n}',
    'userdb {\n driver = static\n args = uid=nobody gid=nogroup home=/nonexistent\n}',
    `service imap-login {\n inet_listener imap {\n port = ${imap}\n }\n inet_listener imaps {\n port = 0\n }\n}`,
    `service pop3-login {\n inet_listener pop3 {\n port = ${pop3}\n }\n inet_listener pop3s {\n port = 0\n }\n}`,
  ]);
  const vsftpd = write('vsftpd.conf', [
    'listen=YES',
    'listen_address=127.0.0.1',
    `listen_port=${ftp}`,
    'background=NO',
    'anonymous_enable=YES',
    'ssl_enable=YES',
    'allow_anon_ssl=YES',
    `rsa_cert_file=${cert}`,
    `rsa_private_key_file=${key}`,
    'ssl_ciphers=HIGH',
    `secure_chroot_dir=${made('vsftpd', 0o755)}`,
  ]);
  const slapd = write('slapd.conf', [
    `TLSCertificateFile ${cert}`,
    `TLSCertificateKeyFile ${key}`,
    `pidfile ${folder.file('slapd.pid')}`,
  ]);
  const prosody = write('prosody.cfg.lua', [
    `data_path = "${made('prosody')}"`,
    'log = { { levels = { min = "warn" }, to = "console" } }',
    'interfaces = { "127.0.0.1" }',
    `c2s_ports = { ${xmpp} }`,
    'modules_enabled = { "tls" }',
    // Without these it would listen on fixed ports for other servers and requests.
    'modules_disabled = { "s2s", "http", "offline" }',
    `ssl = { certificate = "${cert}", key = "${key}" }`,
    'VirtualHost "127.0.0.1"',
  ]);
  const [postgres] = await Promise.all([
    startPostgres(identity),
    start(smtp, '/usr/sbin/exim4', '-bdf', '-C', exim),
    start(imap, '/usr/sbin/dovecot', '-F', '-c', dovecot),
    start(ftp, '/usr/sbin/vsftpd', vsftpd),
    startAs(NOBODY, xmpp, ['/usr/bin/prosody', '-F', '--config', prosody]),
    start(ldap, '/usr/sbin/slapd', '-d', '0', '-f', slapd, '-h', `ldap://127.0.0.1:${ldap}`),
    start(
      mysql,
      '/usr/sbin/mariadbd',
      '--no-defaults',
      '--user=root',
      '--skip-grant-tables',
      `--datadir=${made('mysql')}`,
      `--socket=${folder.file('mysql.sock')}`,
      '--bind-address=127.0.0.1',
      `--port=${mysql}`,
      `--ssl-cert=${cert}`,
      `--ssl-key=${key}`,
    ),
  ]);
  return {
    ports: {
      SMTP: smtp ?? 0,
      IMAP: imap ?? 0,
      POP3: pop3 ?? 0,
      FTP: ftp ?? 0,
      LDAP: ldap ?? 0,
      MYSQL: mysql ?? 0,
      XMPP: xmpp ?? 0,
      POSTGRESQL: postgres.port,
    },
    async stop() {
      // dovecot ends its other processes only if it ends itself.
      await Promise.all(children.map((child) => endChild(child, 'SIGTERM')));
      await postgres.remove();
      folder.remove();
    },
  };
}

/** Resolves when it accepts connections; rejects with its output if it ends. */
async function listensOn(port: number, child: ChildProcess): Promise<void> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(child, 'close').then(() => true);
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
  while (!readFileSync('/proc/net/tcp', 'utf8').includes(wanted)) {
    // Its start sends no event.
    const pause = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
    if (await Promise.race([ended, pause])) throw new Error(`${child.spawnfile} ended: ${said}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
