import type { FastifyPluginAsync } from 'fastify';
import { pluralText } from '../../../web/status/texts.tsx';
import { ServiceError } from '../../errors.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import { addForms, FORM_TYPE, givenIn, noteOf } from '../../users/pages/forms.ts';
import { givenPassword } from '../../users/password-hashing.ts';
import { pageAddress } from '../site/requested-page.ts';
import { type ClosedPageParts, closedDocument } from './closed-page.tsx';
import type { PageAccess } from './page-access.ts';
import { pageTokenCookie } from './page-token-cookie.ts';
import { pathWithin } from './path-within.ts';

const MISSING = 'Enter the password of the page.';
const WRONG = 'No page at this address opens with this password.';
const FORM = {
  config: {
    public: true,
    uncompressed: true,
    bodyType: FORM_TYPE,
    audit: { none: 'a reader of a page is not a user, and changes nothing' },
  },
  schema: { hide: true },
} as const;

/** The form with which readers open a private page. It answers in the same way if there is no such page. */
export function accessRoutes(
  parts: ClosedPageParts & { readonly pageAccess: Pick<PageAccess, 'enter'> },
): FastifyPluginAsync {
  const { serviceAddress, statusSite, pageAccess } = parts;
  return async (app) => {
    addForms(app);
    app.post<{ readonly Params: { readonly url: string } }>(
      '/access',
      FORM,
      async (request, reply) => {
        const { url } = request.params;
        const next = pathWithin(givenIn(request, 'next'));
        const again = (status: number, note: string) =>
          closedDocument(request, reply, parts, { status, note, next });
        const given = givenIn(request, 'password');
        if (given === '') return again(400, MISSING);
        const password = givenPassword.safeParse(given);
        if (!password.success) return again(403, WRONG);
        try {
          refuseForeignPage(serviceAddress, request);
          const entered = await pageAccess.enter(request, url, password.data);
          if (entered === null) return again(403, WRONG);
          const { path } = pageAddress(request, url, {
            serviceAddress,
            domains: statusSite.domains,
          });
          if (entered !== 'open') {
            reply.header(
              'set-cookie',
              pageTokenCookie(serviceAddress, request, {
                ...entered,
                path: path === '' ? '/' : path,
              }),
            );
          }
          return reply.redirect(`${path}${next}` === '' ? '/' : `${path}${next}`, 303);
        } catch (error) {
          const { status, note } = noteOf(error);
          return again(status, throttledText(error) ?? note.text);
        }
      },
    );
  };
}

/** For a reader, who signs in nowhere; null for another error. */
function throttledText(error: unknown): string | null {
  if (!(error instanceof ServiceError) || error.status !== 429) return null;
  const minutes = Math.ceil(Number(error.headers['retry-after']) / 60);
  return `Too many wrong passwords were entered. Try again in ${pluralText(minutes, 'minute', 'minutes')}.`;
}
