import type { FastifyPluginAsync } from 'fastify';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import type { ServiceAddress } from '../http/access/service-address.ts';
import { anyCheckRoutes } from './any-checks.routes.ts';
import { checkFileRoutes } from './check-file.routes.ts';
import type { Checks } from './checks.ts';
import { typedCheckRoutes } from './typed-checks.routes.ts';

/** The checks of an account: src/model/README.md, "Fields of every check" and "The check file". */
export function checksRoutes({
  checks,
  serviceAddress,
}: {
  readonly checks: Checks;
  readonly serviceAddress: ServiceAddress;
}): FastifyPluginAsync {
  return async (app) => {
    await app.register(anyCheckRoutes(checks, serviceAddress));
    await app.register(checkFileRoutes(checks));
    for (const type of RUNNABLE_CHECK_TYPES) await app.register(typedCheckRoutes(checks, type));
  };
}
