import type { FastifyPluginAsync } from 'fastify';
import type { Features } from '../features.ts';
import { agentArtifactsRoutes } from './routes/agent/artifacts.ts';
import { agentErrorsRoutes } from './routes/agent/errors.ts';
import { handoversRoutes } from './routes/agent/handovers.ts';
import { pollRoutes } from './routes/agent/poll.ts';
import { releaseRoutes } from './routes/agent/release.ts';
import { agentResultsRoutes } from './routes/agent/results.ts';
import { locationAgentErrorsRoutes } from './routes/agent-errors.ts';
import { apiKeysRoutes } from './routes/api-keys.ts';
import { artifactsRoutes } from './routes/artifacts.ts';
import { checkGroupsRoutes } from './routes/check-groups.ts';
import { checkResultsRoutes } from './routes/check-results.ts';
import { checkRunsRoutes } from './routes/check-runs.ts';
import { checkStatusesRoutes } from './routes/check-statuses.ts';
import { checksRoutes } from './routes/checks.ts';
import { locationAgentsRoutes } from './routes/location-agents.ts';
import { missedSlotsRoutes } from './routes/missed-slots.ts';
import { privateLocationsRoutes } from './routes/private-locations.ts';

/** Every route of the API, by resource, in the order of the documentation. */
export function apiRoutes(
  features: Features,
  /** Aborts when the service stops. */
  stopping: AbortSignal,
): readonly FastifyPluginAsync[] {
  return [
    checksRoutes(features),
    checkRunsRoutes(features),
    checkResultsRoutes(features),
    checkStatusesRoutes(features),
    missedSlotsRoutes(features),
    artifactsRoutes(features),
    checkGroupsRoutes(features),
    privateLocationsRoutes(features),
    locationAgentsRoutes(features),
    locationAgentErrorsRoutes(features),
    apiKeysRoutes(features),
    pollRoutes({ ...features, stopping }),
    agentResultsRoutes(features),
    agentArtifactsRoutes(features),
    handoversRoutes(features),
    releaseRoutes(features),
    agentErrorsRoutes(features),
  ];
}
