import type { FastifyPluginAsync } from 'fastify';
import { isListed } from '../../http/resources/etag.ts';
import { notFoundDocument, OPEN } from '../site/page.routes.tsx';
import { requestedPage } from '../site/requested-page.ts';
import { PICTURE_KINDS } from './picture.ts';
import type { PagePictures } from './pictures.ts';

/** For URLs with the hash, whose content never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const FOR_A_WHILE = 'public, max-age=300';
const PRIVATE = 'private, no-store';
/** The content security policy for a picture that a browser opens directly. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The logo and the icon of a status page. */
export function pictureRoutes({
  pagePictures,
}: {
  readonly pagePictures: Pick<PagePictures, 'read'>;
}): FastifyPluginAsync {
  return async (app) => {
    for (const kind of PICTURE_KINDS) {
      app.get(`/${kind}`, OPEN, async (request, reply) => {
        const { page, accountId } = requestedPage(request);
        const hash = page.pictures[kind]?.hash ?? null;
        const hasPicture = hash !== null && page.fields[kind] !== null;
        const key = { accountId, pageId: page.id, kind };
        const picture = hasPicture ? await pagePictures.read(key, hash) : null;
        if (picture === null) return notFoundDocument(reply);
        const { v } = request.query as Readonly<Record<string, unknown>>;
        const shared = v === picture.hash ? FOR_EVER : FOR_A_WHILE;
        const etag = `"${picture.hash}"`;
        reply.headers({
          etag,
          'cache-control': page.fields.isPrivate ? PRIVATE : shared,
          'content-security-policy': POLICY,
        });
        if (isListed(request.headers['if-none-match'] ?? '', etag)) return reply.code(304).send();
        return reply.type(picture.type).send(picture.bytes);
      });
    }
  };
}
