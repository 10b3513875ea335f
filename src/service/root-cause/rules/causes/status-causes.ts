import type { CauseRow } from '../cause.ts';
import { LINKS } from '../links.ts';
import type { Subject } from '../subject.ts';

const answered = ({ target }: Subject, status: number): string =>
  `${target} answered with status ${status}.`;

interface StatusRow {
  readonly classification: CauseRow['classification'];
  /** Follows the sentence with the status. */
  readonly cause: (subject: Subject) => string;
  readonly fix: (subject: Subject) => string;
  readonly links: CauseRow['links'];
}

const BEHIND =
  "look at the server behind the proxy: whether it runs, passes the proxy's health check, and answers within its timeout";

/** Keyed by status code. */
const STATUSES: ReadonlyMap<number, StatusRow> = new Map<number, StatusRow>([
  [
    400,
    {
      classification: 'CLIENT_ERROR',
      cause: () =>
        'The server considers the request malformed. Likely the expected form has changed, or a header, the query or the body of the check is wrong.',
      fix: () =>
        'Compare the request of the check with what the server expects now; its log or the body of the response usually says what is wrong.',
      links: [LINKS.status400],
    },
  ],
  [
    401,
    {
      classification: 'ACCESS_DENIED',
      cause: () =>
        'The server requires credentials, or did not accept those of the check. Likely a token or password has expired, was changed or was never given.',
      fix: () =>
        "Renew the credentials of the check (Authorization header or basicAuth) and test the address with them. If the page should be public, look at the server's access rules.",
      links: [LINKS.status401],
    },
  ],
  [
    403,
    {
      classification: 'ACCESS_DENIED',
      cause: ({ location }) =>
        `The server understood the request and refuses it. Likely the credentials of the check lack the permission, or a web application firewall or an access list blocks the agent in ${location}.`,
      fix: ({ location }) =>
        `Find out in the log of the server or its firewall which rule refused the request. Grant the permission to the check's credentials, or allow the addresses of the agent in ${location}.`,
      links: [LINKS.status403],
    },
  ],
  [
    404,
    {
      classification: 'NOT_FOUND',
      cause: () =>
        'The server found nothing at this address. Likely the page was moved or removed, a deployment changed the routes, or the path in the check is wrong.',
      fix: () =>
        'Check whether a deployment changed the path; restore it or redirect it, or correct the address in the check.',
      links: [LINKS.status404],
    },
  ],
  [
    405,
    {
      classification: 'CLIENT_ERROR',
      cause: () =>
        'The server does not support the method of the check at this address. Likely the route was changed, or the method of the check is wrong.',
      fix: () => 'Use one of the methods that the Allow header of the response names.',
      links: [LINKS.status405],
    },
  ],
  [
    407,
    {
      classification: 'ACCESS_DENIED',
      cause: () => 'A proxy in front of the target requires credentials.',
      fix: () => 'Add the credentials of the proxy to the proxy URL of the location.',
      links: [LINKS.status407],
    },
  ],
  [
    408,
    {
      classification: 'TIMEOUT',
      cause: () =>
        'The server timed out while it waited for the request. Likely the network is very slow or loses packets, or its timeout is very short.',
      fix: () => "Check the server's timeout for requests, and packet loss on the route.",
      links: [LINKS.status408],
    },
  ],
  [
    410,
    {
      classification: 'NOT_FOUND',
      cause: () => 'The resource at this address was removed on purpose.',
      fix: () => 'Point the check at the new address, or remove it.',
      links: [LINKS.status410],
    },
  ],
  [
    429,
    {
      classification: 'RATE_LIMITED',
      cause: ({ location }) =>
        `The server refuses the request because it received too many. Likely this check and others together reach the limit for the key or the address of the agent in ${location}.`,
      fix: ({ location }) =>
        `Run the check less often or from fewer locations, or exempt the addresses of ${location} or its key from the limit. The Retry-After header says when the server answers again.`,
      links: [LINKS.status429, LINKS.retryAfter],
    },
  ],
  [
    500,
    {
      classification: 'SERVER_ERROR',
      cause: () =>
        'The application failed while it handled the request. Likely an uncaught exception, after a deployment or because something that it depends on is unavailable.',
      fix: () =>
        'Look for the exception in the log of the application at the time of the run, compare with the last deployment, and roll that back if the failures began with it.',
      links: [LINKS.status500],
    },
  ],
  [
    502,
    {
      classification: 'GATEWAY_ERROR',
      cause: () =>
        'A proxy or load balancer answered because it got no valid response from the server behind it. Likely that server has crashed, is restarting, or refuses or ends connections.',
      fix: () =>
        `Find out in the log of the proxy which server it called and what went wrong; then ${BEHIND}.`,
      links: [LINKS.status502],
    },
  ],
  [
    503,
    {
      classification: 'SERVICE_UNAVAILABLE',
      cause: () =>
        'The server says that it cannot answer for now. Likely it is overloaded, under maintenance or just starting, or a load balancer has no healthy server.',
      fix: () =>
        'Check whether maintenance or a deployment was in progress, how many healthy servers the load balancer has, and whether they have free capacity (CPU, memory, connections). A Retry-After header says when to retry.',
      links: [LINKS.status503, LINKS.retryAfter],
    },
  ],
  [
    504,
    {
      classification: 'GATEWAY_ERROR',
      cause: () =>
        'A proxy or load balancer answered because the server behind it did not respond within its timeout. Likely the application hangs or waits for something slow.',
      fix: () =>
        `Look for slow requests in the application at the time of the run, and ${BEHIND}. Raise the proxy's timeout only if requests may take this long.`,
      links: [LINKS.status504],
    },
  ],
]);

const OTHER_4XX: StatusRow = {
  classification: 'CLIENT_ERROR',
  cause: () =>
    'The server refuses the request and blames the client. Likely the request of the check is no longer what the server expects.',
  fix: () =>
    'Find out what the status means for this server in the body of its response and in its log, and correct the request of the check.',
  links: [LINKS.status4xx],
};
const OTHER_5XX: StatusRow = {
  classification: 'SERVER_ERROR',
  cause: () =>
    'The server reports a failure of its own. Likely something that it depends on is unavailable or faulty.',
  fix: () =>
    'Look at the log of the server at the time of the run, and compare with the last deployment.',
  links: [LINKS.status5xx],
};

function rowOf(status: number): StatusRow {
  return STATUSES.get(status) ?? (status >= 500 ? OTHER_5XX : OTHER_4XX);
}

/** The cause of a status of 400 or more. */
export function causeOfStatus(status: number): CauseRow {
  const { classification, cause, fix, links } = rowOf(status);
  return {
    classification,
    cause: (subject) => `${answered(subject, status)} ${cause(subject)}`,
    fix,
    links,
  };
}
