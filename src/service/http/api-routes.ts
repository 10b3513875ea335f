import type { FastifyPluginAsync } from 'fastify';
import type { Features } from '../features.ts';
import { apiKeysRoutes } from './routes/api-keys.ts';
import { checkGroupsRoutes } from './routes/check-groups.ts';
import { checksRoutes } from './routes/checks.ts';
import { privateLocationsRoutes } from './routes/private-locations.ts';

/** Every route of the API, by resource, in the order of the documentation. */
export function apiRoutes(features: Features): readonly FastifyPluginAsync[] {
  return [
    checksRoutes(features),
    checkGroupsRoutes(features),
    privateLocationsRoutes(features),
    apiKeysRoutes(features),
  ];
}
