import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { RouterLab } from '../../../support/network/router-lab.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import type { StormRecords } from './storm-records.ts';
import { talkTo } from './storm-talk.ts';

/** What the storm does to the checks of a group; nothing to the healthy ones. */
export const GROUPS = ['healthy', 'dropped', 'reset', 'nameless'] as const;
export type Group = (typeof GROUPS)[number];

/** Behind three routers, seen from the agent. */
export const TARGET_ADDRESS = '10.80.4.2';
/** On one port, so many fresh connections would use up the agent's own. */
export const PORTS: Readonly<Record<Group, { readonly http: number; readonly tcp: number }>> = {
  healthy: { http: 9000, tcp: 9100 },
  dropped: { http: 9001, tcp: 9101 },
  reset: { http: 9002, tcp: 9102 },
  nameless: { http: 9003, tcp: 9103 },
};

export interface StormLab {
  /** Starts the service in the agent's network. */
  startService(assignments: readonly object[]): Promise<StormService>;
  /** Goes before the agent's command. */
  readonly prefix: readonly string[];
  /** Fetches from the loopback of the agent's network. */
  ask(port: number, path: string): string;
  /** From when it is over the targets fail, and resolves then. */
  breakOut(): Promise<void>;
  /** From when it is over the targets are back. */
  calmDown(): Promise<void>;
}

export interface StormService {
  /** From inside. */
  readonly url: string;
  /** All that it has taken so far. */
  taken(): Promise<StormRecords>;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** An agent's network and, behind three routers, its targets. Root only; it goes with the test. */
export async function stormLab(): Promise<StormLab> {
  const lab = new RouterLab();
  onTestFinished(() => lab.remove());
  const about = { address: TARGET_ADDRESS, ports: PORTS, resetting: 'reset' satisfies Group };
  const targets = talkTo(
    lab.target.start(process.execPath, path('storm-targets.mjs'), JSON.stringify(about)),
  );
  await targets.heard();
  const conf = join(makeTestFolder(), 'resolv.conf');
  writeFileSync(conf, `nameserver ${TARGET_ADDRESS}\noptions timeout:1 attempts:2\n`);
  // `ip netns exec` gives each command a tree of mounts of its own.
  const withNames = `mount --bind ${conf} /etc/resolv.conf && exec "$0" "$@"`;
  const { http, tcp } = PORTS.dropped;
  return {
    async startService(assignments) {
      const service = talkTo(lab.agent.start(process.execPath, path('storm-service.mjs')));
      const port = await service.say(JSON.stringify(assignments));
      return {
        url: `http://127.0.0.1:${port}`,
        taken: async () => JSON.parse(await service.say('what?')) as StormRecords,
      };
    },
    prefix: ['ip', 'netns', 'exec', lab.agent.name, 'sh', '-c', withNames],
    ask: (port, asked) => lab.agent.run(process.execPath, '-e', FETCH, String(port), asked),
    async breakOut() {
      lab.rule(2, 'forward', `tcp dport { ${http}, ${tcp} } drop`);
      lab.rule(2, 'forward', 'udp dport 53 drop');
      await targets.say('reset');
    },
    async calmDown() {
      lab.clearRules();
      await targets.say('serve');
    },
  };
}

const FETCH = `const [, port, path] = process.argv;
  fetch('http://127.0.0.1:' + port + path).then(async (it) => console.log(await it.text()))`;
