import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import { replaceFile } from '../../../runtime/files/replace-file.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { id } from '../../../wire/v1/fields.ts';

export interface AgentIdentity {
  /** The same after a restart, so that the agent gets its own checks back. */
  readonly agentId: string;
  /** Identifies this process: two with a copy of one DATA_DIR have the same agentId. */
  readonly instanceId: string;
}

/**
 * The identity of this agent: the id in DATA_DIR/agent-id, which is created if it is missing. If it
 * cannot be saved, the agent works, but has a new id after each restart.
 */
export async function openAgentIdentity(
  dataDir: string | null,
  log: Logger,
): Promise<AgentIdentity> {
  const instanceId = randomUUID();
  if (dataDir === null) return { agentId: randomUUID(), instanceId };
  const file = join(dataDir, 'agent-id');
  const known = await readAgentId(file, log);
  if (known !== null) return { agentId: known, instanceId };
  const agentId = randomUUID();
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await replaceFile(file, `${agentId}\n`, { durable: true });
  } catch (error) {
    log.warn(
      { file, reason: messageOf(error) },
      "the agent's id cannot be saved: the service will take it for another agent after a restart",
    );
  }
  return { agentId, instanceId };
}

async function readAgentId(file: string, log: Logger): Promise<string | null> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    if (id.safeParse(text).success) return text;
    log.warn({ file }, "the file of the agent's id contains no id; the agent gets a new one");
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') {
      const reason = messageOf(error);
      log.warn({ file, reason }, "the agent's id cannot be read; the agent gets a new one");
    }
  }
  return null;
}
