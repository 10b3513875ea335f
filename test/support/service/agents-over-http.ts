import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'vitest';
import type { Role } from '../../../src/model/enums.ts';
import { createAgentErrors } from '../../../src/service/agent-errors/agent-errors.ts';
import { agentErrorsRoutes } from '../../../src/service/agent-errors/report.routes.ts';
import { locationAgentErrorsRoutes } from '../../../src/service/agent-errors/routes.ts';
import { pollRoutes } from '../../../src/service/agents/poll.routes.ts';
import { locationAgentsRoutes } from '../../../src/service/agents/routes.ts';
import { createApiKeys } from '../../../src/service/api-keys/api-keys.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { NO_COUNTS } from '../../../src/service/http/metrics.ts';
import { createLocationKeys } from '../../../src/service/private-locations/location-keys.ts';
import type { PollResponse } from '../../../src/wire/v1/poll.ts';
import type { ReleaseResponse } from '../../../src/wire/v1/release.ts';
import type { AgentFixture, FixtureLocation } from './agent-fixture.ts';
import { PollingAgent, type PollingAgentFields } from './polling-agent.ts';
import { type Reply, type ServiceApp, startServiceApp } from './service-app.ts';

/** The agents of a fixture over real HTTP, without held polls. */
export interface AgentsOverHttp {
  readonly app: ServiceApp;
  /** With the key of the location. */
  send(location: FixtureLocation, path: string, body: unknown): Promise<Reply>;
  /** As a user of the fixture's account. */
  ask(path: string, method?: string, role?: Role): Promise<Reply>;
  /** Polls with the location's key; rejects with the error response. */
  agent(location: FixtureLocation, id: string, fields?: PollingAgentFields): PollingAgent;
  /** The location's agents as the API shows them. */
  // biome-ignore lint/suspicious/noExplicitAny: like `json` of a reply
  listed(location: FixtureLocation): Promise<any[]>;
}

/** For a describe block with a fixture: a new service in each test. */
export function useAgentsOverHttp(
  storeOf: () => Store,
  fixtureOf: () => AgentFixture,
): () => AgentsOverHttp {
  let made: AgentsOverHttp | null = null;
  beforeEach(async () => {
    made = await start(storeOf(), fixtureOf());
  });
  afterEach(() => made?.app.close());
  return () => {
    if (made === null) throw new Error('the service is for tests: it starts before each');
    return made;
  };
}

async function start(store: Store, fixture: AgentFixture): Promise<AgentsOverHttp> {
  const { agents, clock, accountId } = fixture;
  const parts = { store, clock, ids: randomUUID };
  const apiKeys = createApiKeys(parts);
  const locationKeys = createLocationKeys(parts);
  const agentErrors = createAgentErrors({ store });
  const app = await startServiceApp(
    [
      pollRoutes({ agents, stopping: AbortSignal.abort() }),
      locationAgentsRoutes({ agents }),
      agentErrorsRoutes({ agentErrors }),
      locationAgentErrorsRoutes({ agentErrors }),
    ],
    {
      authenticator: apiKeys,
      locationKeys,
      counts: () => ({ ...NO_COUNTS, agentRefusals: agents.refusals }),
    },
  );
  const keys = new Map<string, Promise<string>>();
  const keyOf = (name: string, make: () => Promise<{ readonly key: string }>): Promise<string> => {
    const key = keys.get(name) ?? make().then((created) => created.key);
    keys.set(name, key);
    return key;
  };
  const send: AgentsOverHttp['send'] = async ({ id }, path, body) => {
    const key = await keyOf(id, () => locationKeys.create(accountId, id));
    return app.ask(path, { key, method: 'POST', headers: { 'x-agent-protocol': '1' }, body });
  };
  const ask: AgentsOverHttp['ask'] = async (path, method = 'GET', role = 'write') => {
    const key = await keyOf(role, () => apiKeys.create(accountId, { name: role, role }));
    return app.ask(path, { key, method });
  };
  return {
    app,
    send,
    ask,
    agent(location, id, fields) {
      const taken = async (path: string, body: unknown): Promise<unknown> => {
        const { status, json } = await send(location, path, body);
        if (status === 200) return json;
        throw Object.assign(new Error(json.message), { status, attributes: json.attributes });
      };
      const overHttp = {
        poll: async (_: unknown, body: unknown) =>
          (await taken('/agent/v1/poll', body)) as PollResponse,
        release: async (_: unknown, body: unknown) =>
          (await taken('/agent/v1/release', body)) as ReleaseResponse,
      };
      return new PollingAgent(overHttp, location.caller, id, fields);
    },
    async listed({ id }) {
      return (await ask(`/v1/private-locations/${id}/agents`, 'GET', 'read')).json;
    },
  };
}
