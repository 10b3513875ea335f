import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { z } from 'zod';
import { renderHtml } from '../../../web/status/layout.tsx';
import { invalid, ServiceError } from '../../errors.ts';
import { refuseForeignPage } from '../../http/access/same-origin.ts';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import { clientGoneSignal } from '../../http/request-signal.ts';
import { bodyProblem, validBody } from '../../http/resources/input-problems.ts';
import { emailSchema } from '../../users/email.ts';
import { notFoundDocument } from '../site/page.routes.tsx';
import { type RequestedPage, requestedPage } from '../site/requested-page.ts';
import { policyOf } from '../site/send-document.ts';
import { webhookUrlOf } from './address.ts';
import { subscriptionUrl, unsubscribeUrl } from './messages/message-content.ts';
import type { SubscribedPage } from './subscribe.ts';
import type { PageSubscription, Subscriptions } from './subscriptions.ts';
import {
  CheckMailView,
  type ChoosableService,
  type FormNote,
  SubscribeView,
  SubscriptionView,
  UnsubscribedView,
  UnsubscribeView,
  WebhookView,
} from './view.tsx';

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** All services of the largest page. */
const MAX_BODY_BYTES = 128 * 1024;
const MAX_TEXT_CHARS = 2048;
const MAX_SERVICES = 1000;

/** The pages contain tokens beside what a request says. */
const OPEN = { public: true, uncompressed: true } as const;
const WRITES = { ...OPEN, audit: { none: 'readers of a page subscribe themselves' } } as const;
const HIDDEN = { schema: { hide: true }, bodyLimit: MAX_BODY_BYTES } as const;
const BY_TOKEN = { statusPageByToken: true } as const;

const services = z.array(z.guid()).max(MAX_SERVICES).nullable().default(null);
const subscribeBody = z.union([
  z.strictObject({ email: z.string().max(MAX_TEXT_CHARS).trim().pipe(emailSchema), services }),
  z.strictObject({ url: z.string().max(MAX_TEXT_CHARS), services }),
]);

interface OfToken {
  readonly Params: { readonly token: string };
}

export interface SubscriptionPagesParts {
  readonly serviceAddress: ServiceAddress;
  readonly subscriptions: Subscriptions;
}

/**
 * The routes with which people and programs subscribe to a status page, within the site of status pages:
 * src/service/README.md, "Subscribers".
 */
export function subscriptionPagesRoutes(parts: SubscriptionPagesParts): FastifyPluginAsync {
  const { serviceAddress, subscriptions } = parts;

  const sendSubscribe = (
    request: FastifyRequest,
    reply: FastifyReply,
    note: FormNote | null = null,
    email = '',
  ) => {
    const requested = requestedPage(request);
    return sendHtml(
      request,
      reply,
      <SubscribeView
        requested={requested}
        services={choosableServices(requested)}
        takesEmails={subscriptions.emailProblem(subscribedPage(request)) === null}
        takesWebhooks={subscriptions.webhookProblem() === null}
        email={email}
        note={note}
      />,
    );
  };

  const subscribe = async (request: FastifyRequest, reply: FastifyReply) => {
    refuseForeignPage(serviceAddress, request);
    const page = subscribedPage(request);
    const given = validBody(subscribeBody, request.body ?? {});
    if ('email' in given) {
      await subscriptions.subscribeEmail(page, given, request.ip);
      reply.code(202);
      return isForm(request)
        ? sendHtml(request, reply, <CheckMailView requested={requestedPage(request)} />)
        : reply.send({ message: 'An email with a link is on its way: open it to confirm' });
    }
    const url = webhookUrlOf(given.url);
    if (url === null) {
      throw invalid([
        bodyProblem(['url'], 'must be an http or https URL, without user and on a usual port'),
      ]);
    }
    const webhook = { url, services: given.services };
    const signal = clientGoneSignal(reply);
    const made = await subscriptions.subscribeWebhook(page, webhook, request.ip, signal);
    const { secret, token } = made;
    const links = { base: page.base, token };
    reply.code(201);
    if (!isForm(request)) return reply.send({ secret, unsubscribeUrl: unsubscribeUrl(links) });
    const view = (
      <WebhookView
        requested={requestedPage(request)}
        secret={secret}
        manageUrl={subscriptionUrl(links)}
      />
    );
    return sendHtml(request, reply, view);
  };

  /** The page of a subscription, or 404. */
  const sendSubscription = (
    request: FastifyRequest<OfToken>,
    reply: FastifyReply,
    subscription: PageSubscription | null,
    note: FormNote | null = null,
  ) => {
    if (subscription === null) return notFoundDocument(reply);
    const requested = requestedPage(request);
    return sendHtml(
      request,
      reply,
      <SubscriptionView
        requested={requested}
        services={choosableServices(requested)}
        subscription={subscription}
        url={pathOf(request)}
        note={note}
      />,
    );
  };

  return async (app) => {
    app.addContentTypeParser(
      FORM_TYPE,
      { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
      async (_request: unknown, text: string) => fieldsOfForm(text),
    );

    app.get('/subscribe', { config: OPEN, ...HIDDEN }, (request, reply) =>
      sendSubscribe(request, reply),
    );

    app.post('/subscribe', { config: WRITES, ...HIDDEN }, async (request, reply) => {
      if (!isForm(request)) return subscribe(request, reply);
      try {
        return await subscribe(request, reply);
      } catch (error) {
        const note = noteOf(error, reply);
        const { email } = Object(request.body) as { readonly email?: unknown };
        return sendSubscribe(request, reply, note, typeof email === 'string' ? email : '');
      }
    });

    app.get<OfToken>(
      '/subscriptions/:token',
      { config: { ...OPEN, ...BY_TOKEN }, ...HIDDEN },
      async (request, reply) => {
        const { token } = request.params;
        const found = await subscriptions.find(subscribedPage(request), token);
        return sendSubscription(request, reply, found);
      },
    );

    app.post<OfToken>(
      '/subscriptions/:token/confirm',
      { config: { ...WRITES, ...BY_TOKEN }, ...HIDDEN },
      async (request, reply) => {
        const page = subscribedPage(request);
        const { token } = request.params;
        try {
          const found = await subscriptions.confirm(page, token);
          const note = { isError: false, text: 'The subscription is confirmed.' };
          return sendSubscription(request, reply, found, note);
        } catch (error) {
          const note = noteOf(error, reply);
          return sendSubscription(request, reply, await subscriptions.find(page, token), note);
        }
      },
    );

    app.post<OfToken>(
      '/subscriptions/:token',
      { config: { ...WRITES, ...BY_TOKEN }, ...HIDDEN },
      async (request, reply) => {
        const page = subscribedPage(request);
        const { token } = request.params;
        try {
          const given = validBody(z.strictObject({ services }), request.body ?? {});
          const changed = await subscriptions.changeServices(page, token, given.services);
          return sendSubscription(request, reply, changed, { isError: false, text: 'Saved.' });
        } catch (error) {
          const note = noteOf(error, reply);
          const found = await subscriptions.find(page, token);
          return sendSubscription(request, reply, found, note);
        }
      },
    );

    app.get<OfToken>(
      '/subscriptions/:token/unsubscribe',
      { config: { ...OPEN, ...BY_TOKEN }, ...HIDDEN },
      async (request, reply) => {
        const { token } = request.params;
        const found = await subscriptions.find(subscribedPage(request), token);
        if (found === null) return notFoundDocument(reply);
        const requested = requestedPage(request);
        const url = pathOf(request);
        return sendHtml(request, reply, <UnsubscribeView requested={requested} url={url} />);
      },
    );

    // RFC 8058 3.2: mail programs send this POST without cookie, and from anywhere.
    app.post<OfToken>(
      '/subscriptions/:token/unsubscribe',
      { config: { ...WRITES, ...BY_TOKEN }, ...HIDDEN },
      async (request, reply) => {
        await subscriptions.unsubscribe(subscribedPage(request), request.params.token);
        return sendHtml(request, reply, <UnsubscribedView requested={requestedPage(request)} />);
      },
    );
  };
}

/** Services may be named several times; empty fields are missing ones. */
function fieldsOfForm(text: string): Readonly<Record<string, unknown>> {
  const form = new URLSearchParams(text);
  const fields = ['email', 'url'].flatMap((name) => {
    const value = form.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const chosen = form.get('scope') === 'some' ? form.getAll('services') : null;
  return { ...Object.fromEntries(fields), services: chosen };
}

function isForm({ headers }: FastifyRequest): boolean {
  return (headers['content-type'] ?? '').toLowerCase().startsWith(FORM_TYPE);
}

/** @throws the error itself where it is not the sender's */
function noteOf(error: unknown, reply: FastifyReply): FormNote {
  if (!(error instanceof ServiceError)) throw error;
  reply.code(error.status).headers(error.headers);
  const text = error.message
    .replace(/^body\.email/, 'The email address')
    .replace(/^body\.url/, 'The URL')
    .replace(/^body\.services/, 'The services')
    .replace(/^body/, 'The form');
  return { isError: true, text };
}

function choosableServices({ page }: RequestedPage): readonly ChoosableService[] {
  const all = page.cards.flatMap((card) => card.services);
  return [...new Map(all.map(({ id, name }) => [id, { id, name }])).values()];
}

function subscribedPage(request: FastifyRequest): SubscribedPage {
  const requested = requestedPage(request);
  const { page, accountId, base, path } = requested;
  const isOnOwnDomain = path === '';
  return {
    accountId,
    pageId: page.id,
    name: page.fields.name,
    // Removes the port: the client chooses the port in the Host header.
    base: isOnOwnDomain ? `${new URL(base).protocol}//${new URL(base).hostname}` : base,
    isOnOwnDomain,
    serviceIds: choosableServices(requested).map(({ id }) => id),
  };
}

/** The path of the page of the subscription, within the site. */
function pathOf(request: FastifyRequest<OfToken>): string {
  const { path: base } = requestedPage(request);
  return subscriptionUrl({ base, token: encodeURIComponent(request.params.token) });
}

/** Browsers withhold the Origin of forms under the policy no-referrer. */
function sendHtml(request: FastifyRequest, reply: FastifyReply, view: VNode): FastifyReply {
  return reply
    .headers({
      'content-security-policy': policyOf(requestedPage(request).page.fields),
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(renderHtml(view));
}
