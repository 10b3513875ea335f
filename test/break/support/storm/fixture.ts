import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { RoutedNetwork } from '../../../support/network/routed-network.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import type { StormRecords } from './records.ts';
import { talkTo } from './talk.ts';

/** The effect of the storm on a group's checks; none on the healthy ones. */
export const GROUPS = ['healthy', 'dropped', 'reset', 'nameless'] as const;
export type Group = (typeof GROUPS)[number];

/** Behind three routers, as seen from the agent. */
export const TARGET_ADDRESS = '10.80.4.2';
/** With one port, this many fresh connections would exhaust the agent's ephemeral ports. */
export const PORTS: Readonly<Record<Group, { readonly http: number; readonly tcp: number }>> = {
  healthy: { http: 9000, tcp: 9100 },
  dropped: { http: 9001, tcp: 9101 },
  reset: { http: 9002, tcp: 9102 },
  nameless: { http: 9003, tcp: 9103 },
};

export interface StormFixture {
  /** Starts the service in the agent's network. */
  startService(assignments: readonly object[]): Promise<StormService>;
  /** A prefix of the agent's command. */
  readonly prefix: readonly string[];
  /** Fetches from the loopback of the agent's network. */
  ask(port: number, path: string): string;
  /** The targets fail from the end of this call. */
  breakOut(): Promise<void>;
  /** The targets are back from the end of this call. */
  calmDown(): Promise<void>;
}

export interface StormService {
  /** From inside. */
  readonly url: string;
  /** Everything that it has accepted so far. */
  taken(): Promise<StormRecords>;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * An agent's network and, behind three routers, its targets. Root only; removed when the test ends.
 */
export async function stormFixture(): Promise<StormFixture> {
  const network = new RoutedNetwork();
  onTestFinished(() => network.remove());
  const about = { address: TARGET_ADDRESS, ports: PORTS, resetting: 'reset' satisfies Group };
  const targets = talkTo(
    network.target.start(process.execPath, path('targets.mjs'), JSON.stringify(about)),
  );
  await targets.heard();
  const conf = join(makeTestFolder(), 'resolv.conf');
  writeFileSync(conf, `nameserver ${TARGET_ADDRESS}\noptions timeout:1 attempts:2\n`);
  // `ip netns exec` gives each command its own mount namespace.
  const withNames = `mount --bind ${conf} /etc/resolv.conf && exec "$0" "$@"`;
  const { http, tcp } = PORTS.dropped;
  return {
    async startService(assignments) {
      const service = talkTo(network.agent.start(process.execPath, path('service.mjs')));
      const port = await service.say(JSON.stringify(assignments));
      return {
        url: `http://127.0.0.1:${port}`,
        taken: async () => JSON.parse(await service.say('what?')) as StormRecords,
      };
    },
    prefix: ['ip', 'netns', 'exec', network.agent.name, 'sh', '-c', withNames],
    ask: (port, asked) => network.agent.run(process.execPath, '-e', FETCH, String(port), asked),
    async breakOut() {
      network.rule(2, 'forward', `tcp dport { ${http}, ${tcp} } drop`);
      network.rule(2, 'forward', 'udp dport 53 drop');
      await targets.say('reset');
    },
    async calmDown() {
      network.clearRules();
      await targets.say('serve');
    },
  };
}

const FETCH = `const [, port, path] = process.argv;
  fetch('http://127.0.0.1:' + port + path).then(async (it) => console.log(await it.text()))`;
