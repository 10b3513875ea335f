import type { FastifyReply } from 'fastify';
import { ErrorPage } from '../../../web/status/error-page.tsx';
import { renderHtml } from '../../../web/status/layout.tsx';
import type { ServiceError } from '../../errors.ts';
import { DEFAULT_COLORS, HTML } from './page.routes.tsx';
import { policyOf } from './send-document.ts';

const FAULT = {
  title: 'This page cannot be shown now',
  text: 'Something went wrong in the service that shows it. Try again in a few minutes.',
} as const;

/** An error page for readers. It does not depend on the status page, which may be private. */
export function errorDocument(error: ServiceError, reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'cache-control': 'no-store',
      'content-security-policy': policyOf(DEFAULT_COLORS),
    })
    .type(HTML)
    .send(renderHtml(<ErrorPage colors={DEFAULT_COLORS} {...wordsOf(error)} />));
}

function wordsOf({ status, message, headers }: ServiceError): {
  readonly title: string;
  readonly text: string;
} {
  const retry =
    'retry-after' in headers
      ? `Try again in ${headers['retry-after']} seconds.`
      : 'Try again later.';
  if (status === 429)
    return { title: 'Too many requests', text: `You requested too many pages. ${retry}` };
  if (status === 503) {
    return { title: FAULT.title, text: `Its data cannot be read at the moment. ${retry}` };
  }
  return status >= 500 ? FAULT : { title: 'This did not work', text: `${message}.` };
}
