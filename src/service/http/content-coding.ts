import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { weightsIn } from './header-weights.ts';

/** br comes first: it is smaller, and takes about the same time. */
const CODINGS = ['br', 'gzip'] as const;
/** A content coding of answers (RFC 9110 8.4.1). */
export type Coding = (typeof CODINGS)[number];

/** The coding that the client prefers (RFC 9110 12.5.3); null if it accepts none of ours. */
export function acceptedCoding(headers: IncomingHttpHeaders): Coding | null {
  const weights = new Map(
    // RFC 9110 8.4.1.3: x-gzip is the same.
    [...weightsIn([headers['accept-encoding'] ?? []].flat().join(','))].map(([name, weight]) => [
      name === 'x-gzip' ? 'gzip' : name,
      weight,
    ]),
  );
  const others = weights.get('*') ?? 0;
  let chosen: Coding | null = null;
  let most = weights.get('identity') ?? 0;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? others;
    // A tie with an unencoded answer goes to the coding, and one between codings to the first.
    if (weight === 0 || weight < most || (chosen !== null && weight === most)) continue;
    chosen = coding;
    most = weight;
  }
  return chosen;
}

/** Adds the name of a request header that the answer depends on. */
export function addVary(reply: FastifyReply, name: string): void {
  const known = reply.getHeader('vary');
  const names = known === undefined ? [] : String(known).split(', ');
  if (!names.includes(name)) reply.header('vary', [...names, name].join(', '));
}
