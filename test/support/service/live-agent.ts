import { PollingAgent } from './polling-agent.ts';
import type { TestService } from './service-fixture.ts';

/** An agent of a private location of `mine`, which has a lease until it releases it. */
export async function startAgent(
  { features, mine: { accountId } }: Pick<TestService, 'features' | 'mine'>,
  locationId: string,
): Promise<PollingAgent> {
  const caller = { accountId, locationId, keyId: 'key' };
  const agent = new PollingAgent(features.agents, caller, 'agent');
  await agent.look();
  return agent;
}

/** A private location of `mine` with a live agent. */
export async function locationWithAgent(
  service: Pick<TestService, 'features' | 'mine'>,
  fields: { readonly slug: string; readonly name: string },
): Promise<void> {
  const made = await service.mine.post('/v1/private-locations', fields);
  await startAgent(service, made.json.id);
}
