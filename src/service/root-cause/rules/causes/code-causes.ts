import type { ErrorCode } from '../../../../model/result/error-codes.ts';
import type { CauseRow } from '../cause.ts';
import { AGENT_CAUSES, ICMP_CAUSES } from './agent-causes.ts';
import { CONNECT_CAUSES } from './connect-causes.ts';
import { DNS_CAUSES } from './dns-causes.ts';
import { PROXY_CAUSES } from './proxy-causes.ts';
import { REQUEST_CAUSES } from './request-causes.ts';
import { RESPONSE_CAUSES } from './response-causes.ts';
import { TLS_CAUSES } from './tls-causes.ts';

/** What each error code means. */
export const CODE_CAUSES: Readonly<Record<ErrorCode, CauseRow>> = {
  ...REQUEST_CAUSES,
  ...DNS_CAUSES,
  ...PROXY_CAUSES,
  ...CONNECT_CAUSES,
  ...TLS_CAUSES,
  ...RESPONSE_CAUSES,
  ...ICMP_CAUSES,
  ...AGENT_CAUSES,
};

const BY_CODE: ReadonlyMap<string, CauseRow> = new Map(Object.entries(CODE_CAUSES));

const NEWER: CauseRow = {
  classification: 'UNKNOWN',
  cause: ({ target, code, message }) =>
    `The run against ${target} ended with ${code ?? 'an error'}, a code that this release of the service does not know. The agent says: ${message ?? 'nothing more'}`,
  fix: () => 'Update the service to the release of the agent, and ask for the analysis again.',
  links: [],
};

/** A newer agent may send a code that is none of ours. */
export function causeOfCode(code: string): CauseRow {
  return BY_CODE.get(code) ?? NEWER;
}
