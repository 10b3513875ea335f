import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { AddedArtifact } from '../../../src/agent/upload/artifact-outbox.ts';
import { endChild } from '../process/end-child.ts';

const DRIVER = join(import.meta.dirname, 'artifact-agent-driver.mjs');

/** The agent's service; `serviceUrl` may be that of a relay. */
export interface ArtifactAgentOptions {
  readonly dataDir: string;
  readonly serviceUrl: string;
  readonly key: string;
  readonly checkId: string;
}

/** The uploading part of an agent in its own process. Killed when the test ends. */
export interface ArtifactAgent {
  readonly pid: number;
  /** Resolves when the upload has succeeded or failed permanently. */
  send(resultId: string, path: string): Promise<SentArtifact>;
}

export interface SentArtifact {
  readonly added: AddedArtifact;
  readonly end: 'sent' | 'refused' | 'not kept';
}

export async function startArtifactAgent(options: ArtifactAgentOptions): Promise<ArtifactAgent> {
  const child = spawn(process.execPath, [DRIVER, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  onTestFinished(() => endChild(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error(`the driver ended: ${log}`);
    return next.value;
  };
  await nextLine();
  return {
    pid: child.pid ?? 0,
    async send(resultId, path) {
      child.stdin.write(`${JSON.stringify({ resultId, name: 'capture.pcap', path })}\n`);
      return JSON.parse(await nextLine());
    },
  };
}
