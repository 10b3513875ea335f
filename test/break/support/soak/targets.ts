import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';
import { askService } from '../../../support/service/service-app.ts';

const TARGETS = fileURLToPath(new URL('targets.mjs', import.meta.url));

/** Ports of 127.0.0.1; nothing listens on `refusing`. */
export type TargetPorts = Readonly<
  Record<'http' | 'https' | 'echo' | 'silent' | 'cutting' | 'dns' | 'refusing', number>
>;

export interface SoakTargets {
  readonly ports: TargetPorts;
  /** Requests so far, and notices by their alert type. */
  counts(): Promise<{
    readonly requests: number;
    readonly hooks: Readonly<Record<string, number>>;
  }>;
}

/** They end with the test. */
export async function startTargets(): Promise<SoakTargets> {
  const identity = await createSelfSigned({ addresses: ['127.0.0.1'] });
  const child = spawn(process.execPath, [TARGETS, JSON.stringify(identity)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const refusing = await refusingPort();
  onTestFinished(() => refusing.close());
  const ports = { ...(JSON.parse(line) as Omit<TargetPorts, 'refusing'>), refusing: refusing.port };
  return {
    ports,
    counts: async () => (await askService(ports.http, '/counts', { key: null })).json,
  };
}
