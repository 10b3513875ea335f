import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { DASHBOARD_PATHS } from '../../web/dashboard-paths.ts';
import { notFound } from '../errors.ts';
import type { ServiceAddress } from '../http/access/service-address.ts';
import { acceptedCoding, addVary } from '../http/content-coding.ts';
import { encoded, sendEncoded } from '../http/handbook/responses.ts';
import { sendPage } from '../users/pages/page.ts';
import type { Setup } from '../users/setup.ts';
import { type Dashboard, readDashboard } from './assets.ts';

const OPEN = { public: true } as const;
const HIDDEN = { hide: true } as const;
/** A page loads all of its assets at once, and many users may share an address. */
const ASSET = { public: true, rateLimit: false } as const;

/** No inline script or style. The sign-out and the sign-in are pages of their own. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const IMMUTABLE = 'public, max-age=31536000, immutable';

export interface DashboardRoutesParts {
  readonly serviceAddress: ServiceAddress;
  readonly setup: Pick<Setup, 'isWithoutUsers'>;
  /** Default: what `npm run build` made. */
  readonly read?: () => Promise<Dashboard | null>;
}

/** The dashboard: one page at each of its paths, and the files that it loads. */
export function dashboardRoutes(parts: DashboardRoutesParts): FastifyPluginAsync {
  const { serviceAddress, setup, read = readDashboard } = parts;
  let loading: Promise<Dashboard | null> | null = null;
  /** Whether a user exists; once true, the database is not queried again. */
  let hasUsers = false;

  const load = async (): Promise<Dashboard | null> => {
    loading ??= read();
    const found = await loading.catch((error: unknown) => {
      loading = null;
      throw error;
    });
    // Retries at the next request: the dashboard may be built later.
    if (found === null) loading = null;
    return found;
  };
  const isWithoutUsers = async (): Promise<boolean> => {
    hasUsers ||= !(await setup.isWithoutUsers());
    return !hasUsers;
  };

  return async (app) => {
    let page: ReturnType<typeof encoded> | null = null;
    for (const path of Object.values(DASHBOARD_PATHS)) {
      app.get(path, { config: OPEN, schema: HIDDEN }, async (request, reply) => {
        if ((await app.identifyUser(request)) === null) {
          if (await isWithoutUsers()) return sendSetupHint(reply, serviceAddress);
          const next = encodeURIComponent(request.url);
          return reply.redirect(serviceAddress.path(`/sign-in?next=${next}`), 303);
        }
        const dashboard = await load();
        if (dashboard === null) return sendNotBuilt(reply);
        page ??= encoded(atBase(dashboard.html, serviceAddress.path('')));
        reply.headers({ 'content-security-policy': POLICY, 'referrer-policy': 'same-origin' });
        return sendEncoded(request, reply.type('text/html; charset=utf-8'), page);
      });
    }

    app.get<{ Params: { name: string } }>(
      '/assets/:name',
      { config: ASSET, schema: HIDDEN },
      async (request, reply) => {
        const asset = (await load())?.assets.get(request.params.name);
        if (asset === undefined) throw notFound('file');
        const coding = acceptedCoding(request.headers);
        addVary(reply, 'accept-encoding');
        reply.header('cache-control', IMMUTABLE).type(asset.type);
        if (coding === null) return reply.send(asset.plain);
        return reply.header('content-encoding', coding).send(asset.packed[coding]);
      },
    );
  };
}

/** Sets the base of the page's relative addresses: it is served at any depth, and PUBLIC_URL may have a path. */
function atBase(html: string, base: string): string {
  return html
    .replaceAll(/(src|href)="\.\//g, `$1="${base}/`)
    .replace('<meta name="base-path" content="" />', `<meta name="base-path" content="${base}" />`);
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The dashboard is not built: run `npm run build`, then reload this page.\n');
}

function sendSetupHint(reply: FastifyReply, serviceAddress: ServiceAddress): FastifyReply {
  return sendPage(reply.header('cache-control', 'no-store'), {
    title: 'Set up Vedette',
    note: null,
    main: `<p>This service has no user yet. Open the setup link to become the first one: <code>vedette up</code> prints it, and <code>vedette service</code> writes it to its log at each start.</p>
<a class="button" href="${serviceAddress.path('/docs')}">Read the handbook</a>`,
  });
}
