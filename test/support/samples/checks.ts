import { type Check, type CheckOf, checkBodySchema } from '../../../src/model/check/check.ts';
import type { RunnableCheckType } from '../../../src/model/enums.ts';

const REQUESTS = {
  URL: { url: 'http://127.0.0.1/' },
  API: { url: 'http://127.0.0.1/' },
  TCP: { hostname: '127.0.0.1', port: 80 },
  DNS: { query: 'example.com' },
  ICMP: { hostname: '127.0.0.1' },
} as const;

/** Fields that a user may omit are omitted here too, so that the schema's own defaults apply. */
export interface CheckFields {
  readonly id?: string;
  readonly request?: object;
  readonly [field: string]: unknown;
}

/** A valid check of the type: the given fields over the required ones. */
export function checkOf<Type extends RunnableCheckType>(
  checkType: Type,
  { id = 'a-check', request, ...fields }: CheckFields = {},
): CheckOf<Type> {
  const body = { name: id, ...fields, checkType, request: { ...REQUESTS[checkType], ...request } };
  return { id, ...checkBodySchema.parse(body) } as Check as CheckOf<Type>;
}
