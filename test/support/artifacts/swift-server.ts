import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { endChild } from '../process/end-child.ts';
import type { S3Credentials } from './s3-signature.ts';

/** Path of Debian's python3-swift. */
export const SWIFT_NEEDS = {
  commands: [],
  files: ['/usr/bin/python3', '/usr/lib/python3/dist-packages/swift/proxy/server.py'],
};

export interface SwiftServer {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: S3Credentials;
  close(): Promise<void>;
}

const RINGS = `
import sys
from os.path import join
from swift.common.ring import RingBuilder
for name, port in zip(('account', 'container', 'object'), sys.argv[2:]):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev(dict(id=0, region=1, zone=1, ip='127.0.0.1', port=int(port), device='disk',
                         weight=1.0, replication_ip='127.0.0.1', replication_port=int(port), meta=''))
    builder.rebalance()
    builder.get_ring().save(join(sys.argv[1], name + '.ring.gz'))
`;

/** The server closes its own stdout, so it reports its start on a copy of it. */
const SERVE = `
import os, sys
from swift.common import utils, wsgi
utils.set_swift_dir(sys.argv[1])
out = os.dup(1)
bind = wsgi.get_socket
def announced(conf):
    sock = bind(conf)
    os.write(out, b'listening')
    return sock
wsgi.get_socket = announced
wsgi.run_wsgi(sys.argv[2], sys.argv[3])
`;

const PROXY_PIPELINE = [
  'catch_errors',
  'cache',
  'listing_formats',
  's3api',
  'tempauth',
  'bulk',
  'slo',
];
const REGION = 'eu-test-1';

function defaults(folder: string, port: number): string {
  return `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nuser = root\nswift_dir = ${folder}\ndevices = ${folder}\nmount_check = false\n`;
}

function storageConfig(folder: string, name: string, port: number): string {
  return `${defaults(folder, port)}[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`;
}

function proxyConfig(folder: string, port: number): string {
  const settings: Readonly<Record<string, string>> = {
    // It works without memcached: nothing listens on this port.
    cache: 'memcache_servers = 127.0.0.1:1\n',
    s3api: `location = ${REGION}\ns3_acl = false\n`,
    tempauth: 'user_test_tester = testing .admin\n',
  };
  const filters = PROXY_PIPELINE.map((name) => {
    const egg = name === 'cache' ? 'memcache' : name;
    return `[filter:${name}]\nuse = egg:swift#${egg}\n${settings[name] ?? ''}`;
  });
  return `${defaults(folder, port)}[pipeline:main]\npipeline = ${PROXY_PIPELINE.join(' ')} proxy-server\n[app:proxy-server]\nuse = egg:swift#proxy\nallow_account_management = true\naccount_autocreate = true\n${filters.join('')}`;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** Resolves when the server listens; rejects with its output if it ends. */
function startServer(folder: string, file: string, app: string): Promise<ChildProcess> {
  const child = spawn('/usr/bin/python3', ['-c', SERVE, folder, file, app], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-20_000);
  });
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve(child));
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${app} ended: ${errors}`)));
  });
}

/**
 * OpenStack's object store with its S3 interface, as one server of each kind on one disk: an
 * independent implementation of the S3 protocol.
 */
export async function startSwift(folder: string): Promise<SwiftServer> {
  mkdirSync(join(folder, 'disk'));
  const names = ['account', 'container', 'object', 'proxy'] as const;
  const ports = await freePorts(names.length);
  writeFileSync(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_prefix = tests\nswift_hash_path_suffix = tests\n[storage-policy:0]\nname = only\ndefault = yes\n',
  );
  const storagePorts = ports.slice(0, 3).map(String);
  execFileSync('/usr/bin/python3', ['-c', RINGS, folder, ...storagePorts]);
  const children = await Promise.all(
    names.map((name, index) => {
      const port = ports[index] ?? 0;
      const file = join(folder, `${name}-server.conf`);
      const config =
        name === 'proxy' ? proxyConfig(folder, port) : storageConfig(folder, name, port);
      writeFileSync(file, config);
      return startServer(folder, file, `${name}-server`);
    }),
  );
  return {
    endpoint: `http://127.0.0.1:${ports.at(-1)}`,
    region: REGION,
    credentials: { accessKeyId: 'test:tester', secretAccessKey: 'testing' },
    async close() {
      await Promise.all(children.map((child) => endChild(child)));
    },
  };
}
