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
  "look at the server behind the proxy: whether it runs, is healthy by the proxy's own check, and answers within its time limit";

/** By status code. */
const STATUSES: ReadonlyMap<number, StatusRow> = new Map<number, StatusRow>([
  [
    400,
    {
      classification: 'CLIENT_ERROR',
      cause: () =>
        'The server takes the request for malformed. Likely its form has changed, or a header, the query or the body of the check is wrong.',
      fix: () =>
        'Compare the request of the check with what the server expects now; its log or the body of the response mostly says what is wrong.',
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
        "Renew the credentials of the check (Authorization header or basicAuth) and see with them that the address answers. If the page is meant to be public, see the server's access rules.",
      links: [LINKS.status401],
    },
  ],
  [
    403,
    {
      classification: 'ACCESS_DENIED',
      cause: ({ location }) =>
        `The server understood and refuses. Likely the credentials of the check have not the right for it, or a firewall for web applications or an access list blocks the agent in ${location}.`,
      fix: ({ location }) =>
        `See in the log of the server or its firewall which rule refused the request. Give the check's credentials the right, or allow the addresses of the agent in ${location}.`,
      links: [LINKS.status403],
    },
  ],
  [
    404,
    {
      classification: 'NOT_FOUND',
      cause: () =>
        'The server has nothing at this address. Likely the page was moved or removed, a deployment changed the routes, or the path in the check is wrong.',
      fix: () =>
        'See whether a deployment changed the path; restore it or redirect it, or correct the address in the check.',
      links: [LINKS.status404],
    },
  ],
  [
    405,
    {
      classification: 'CLIENT_ERROR',
      cause: () =>
        'The server does not take the method of the check at this address. Likely the route was changed, or the method of the check is wrong.',
      fix: () => 'Use one of the methods that the Allow header of the response names.',
      links: [LINKS.status405],
    },
  ],
  [
    407,
    {
      classification: 'ACCESS_DENIED',
      cause: () => 'A proxy on the way requires credentials, before the target is ever asked.',
      fix: () => "Give the proxy's credentials with the address of the location's proxy.",
      links: [LINKS.status407],
    },
  ],
  [
    408,
    {
      classification: 'TIMEOUT',
      cause: () =>
        'The server waited for the request and gave up. Likely the line to it is very slow or loses packets, or its time limit is very short.',
      fix: () => "See the server's time limit for requests, and the loss on the way.",
      links: [LINKS.status408],
    },
  ],
  [
    410,
    {
      classification: 'NOT_FOUND',
      cause: () => 'What was at this address was removed on purpose.',
      fix: () => 'Point the check at the new address, or remove it.',
      links: [LINKS.status410],
    },
  ],
  [
    429,
    {
      classification: 'RATE_LIMITED',
      cause: ({ location }) =>
        `The server refuses because it got too many requests. Likely the limit for the key or the address of the agent in ${location} is met by this check together with others.`,
      fix: ({ location }) =>
        `Run the check less often, from fewer locations, or have the addresses of ${location} or its key taken out of the limit. The Retry-After header says when the server answers again.`,
      links: [LINKS.status429, LINKS.retryAfter],
    },
  ],
  [
    500,
    {
      classification: 'SERVER_ERROR',
      cause: () =>
        'The application failed while it worked on the request. Likely an exception that nothing caught, after a deployment or because something that it needs is away.',
      fix: () =>
        'Look into the log of the application at the time of the run for the exception, compare with the last deployment, and roll that back if it began with it.',
      links: [LINKS.status500],
    },
  ],
  [
    502,
    {
      classification: 'GATEWAY_ERROR',
      cause: () =>
        'A proxy or load balancer answered, because the server behind it gave no good answer. Likely that server has crashed, restarts, or refuses or breaks off connections.',
      fix: () =>
        `In the log of the proxy find which server it asked and what went wrong; then ${BEHIND}.`,
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
        'See whether maintenance or a deployment was under way, how many healthy servers the load balancer has, and whether they have room (processor, memory, connections). A Retry-After header says when to come again.',
      links: [LINKS.status503, LINKS.retryAfter],
    },
  ],
  [
    504,
    {
      classification: 'GATEWAY_ERROR',
      cause: () =>
        'A proxy or load balancer answered, because the server behind it did not answer in its time limit. Likely the application hangs or waits for something slow.',
      fix: () =>
        `Look for slow requests in the application at the time of the run, and ${BEHIND}. Raise the proxy's limit only if the work may take so long.`,
      links: [LINKS.status504],
    },
  ],
]);

const OTHER_4XX: StatusRow = {
  classification: 'CLIENT_ERROR',
  cause: () =>
    'The server refuses the request for a reason that it finds with the client. Likely the request of the check is not what the server expects any more.',
  fix: () =>
    'Look up what the status means to this server, in the body of its response and in its log, and change the request of the check to fit.',
  links: [LINKS.status4xx],
};
const OTHER_5XX: StatusRow = {
  classification: 'SERVER_ERROR',
  cause: () =>
    'The server says that it failed itself. Likely something that it needs is away or faulty.',
  fix: () =>
    'Look into the log of the server at the time of the run, and compare with the last deployment.',
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
