import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { startChild } from './child-process.ts';
import { freePorts } from './free-ports.ts';

/** Serves the same bytes for every path, from memory, with these headers. */
export async function withStaticServer<Value>(
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
  work: (origin: string) => Promise<Value>,
): Promise<Value> {
  const folder = makeTempFolder();
  writeFileSync(folder.file('page'), body);
  const [port = 0] = await freePorts(1);
  const added = Object.entries(headers).map(([name, value]) => `add_header ${name} "${value}";`);
  const config = folder.file('nginx.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder.file('pid')}; error_log stderr error; user root;
    events { worker_connections 1024; }
    http {
      access_log off; open_file_cache max=10; sendfile on; keepalive_requests 10000000;
      client_body_temp_path ${folder.file('body')}; proxy_temp_path ${folder.file('proxy')};
      fastcgi_temp_path ${folder.file('f')}; uwsgi_temp_path ${folder.file('u')}; scgi_temp_path ${folder.file('s')};
      default_type text/html;
      server { listen 127.0.0.1:${port}; root ${folder.path}; ${added.join(' ')} location / { try_files /page =404; } }
    }`,
  );
  const server = await startChild('nginx', ['-c', config, '-p', folder.path]);
  try {
    const origin = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 100; tries += 1) {
      const isUp = await fetch(origin).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return await work(origin);
      await delay(50);
    }
    throw new Error(`nginx did not start: ${server.stderr()}`);
  } finally {
    await server.stop();
    folder.remove();
  }
}
