import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import { invalid, MAX_FOUND_PROBLEMS, type RequestProblem } from '../../errors.ts';
import { routeAccess } from '../access/route-access.ts';
import { problemAt } from '../resources/problems.ts';

/**
 * Refuses query parameters that the route does not have: with a misspelt filter, a list would contain too much.
 * Accepts them from agents, which may be of a newer release.
 */
export function addQueryNames(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ routeOptions, query }) => {
    if (routeAccess(routeOptions.config).kind !== 'role') return;
    const known = namesIn(routeOptions.schema?.querystring);
    const unknown = Object.keys(Object(query)).filter((name) => !known.includes(name));
    if (unknown.length === 0) return;
    throw invalid(unknown.slice(0, MAX_FOUND_PROBLEMS).map((name) => problemOf(name, known)));
  });
}

function namesIn(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function problemOf(name: string, known: readonly string[]): RequestProblem {
  const nearest = nearestName(name, known);
  const hint =
    nearest !== null
      ? `did you mean ${nearest}?`
      : known.length === 0
        ? 'this endpoint has none'
        : `this endpoint has ${known.join(', ')}`;
  return problemAt('querystring', [name], `is not a known parameter; ${hint}`);
}
