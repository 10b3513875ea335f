import type { ComponentChildren, VNode } from 'preact';
import { type ShownPage, StatusLayout } from '../../../web/status/layout.tsx';
import type { PageSubscription } from './subscriptions.ts';

/** The services that can be chosen, in the order of the page. */
export interface ChoosableService {
  readonly id: string;
  readonly name: string;
}

/** The result of the form that was sent. */
export interface FormNote {
  readonly isError: boolean;
  readonly text: string;
}

interface PageProps {
  readonly requested: ShownPage;
  readonly note?: FormNote | null;
}

/** Where people subscribe to a status page. */
export function SubscribeView({
  requested,
  services,
  takesEmails,
  takesWebhooks,
  email = '',
  note = null,
}: PageProps & {
  readonly services: readonly ChoosableService[];
  /** Whether the page offers emails. The reason against it is only for the operator, in the response of the API. */
  readonly takesEmails: boolean;
  readonly takesWebhooks: boolean;
  readonly email?: string;
}): VNode {
  const action = `${requested.path}/subscribe`;
  return (
    <Frame requested={requested} title="Subscribe" note={note}>
      <section class="card">
        <h2>By email</h2>
        {takesEmails ? (
          <form method="post" action={action}>
            <label class="field">
              Email address
              <input name="email" type="email" autocomplete="email" value={email} required />
            </label>
            <ServiceChoice services={services} chosen={null} />
            <button class="button" type="submit">
              Subscribe
            </button>
            <p class="muted small">
              You get one email with a link to confirm. Each message has a link to unsubscribe.
            </p>
          </form>
        ) : (
          <p class="muted">This page sends no emails.</p>
        )}
      </section>
      <section class="card">
        <h2>By webhook</h2>
        {takesWebhooks ? (
          <form method="post" action={action}>
            <label class="field">
              URL
              <input name="url" type="url" autocomplete="off" required />
            </label>
            <ServiceChoice services={services} chosen={null} />
            <button class="button" type="submit">
              Subscribe
            </button>
            <p class="muted small">
              The URL must have a public address. It gets a POST with JSON, and must answer with the
              value of its field <code>challenge</code>, without the other fields.
            </p>
          </form>
        ) : (
          <p class="muted">This page calls no webhooks.</p>
        )}
      </section>
    </Frame>
  );
}

/** Shown after an address was entered, whether it was known before or not. */
export function CheckMailView({ requested }: PageProps): VNode {
  return (
    <Frame requested={requested} title="Check your inbox">
      <section class="card">
        <p>
          An email with a link is on its way. Open the link within a day to confirm the
          subscription.
        </p>
      </section>
    </Frame>
  );
}

/** After a webhook was subscribed. */
export function WebhookView({
  requested,
  secret,
  manageUrl,
}: PageProps & { readonly secret: string; readonly manageUrl: string }): VNode {
  return (
    <Frame requested={requested} title="The webhook is subscribed">
      <section class="card">
        <h2>The key of its signatures</h2>
        <p>
          <code>{secret}</code>
        </p>
        <p class="muted small">
          It is shown only once. The header x-service-signature is the HMAC-SHA256 of the body by
          this key, in hexadecimal digits.
        </p>
        <p>
          <a href={manageUrl}>Change the subscription</a>
        </p>
      </section>
    </Frame>
  );
}

/** Where a subscription is confirmed, changed and ended. */
export function SubscriptionView({
  requested,
  services,
  subscription,
  url,
  note = null,
}: PageProps & {
  readonly services: readonly ChoosableService[];
  readonly subscription: PageSubscription;
  /** The path of this page. */
  readonly url: string;
}): VNode {
  const { address, isConfirmed, serviceIds } = subscription;
  if (!isConfirmed) {
    return (
      <Frame requested={requested} title="Confirm the subscription" note={note}>
        <section class="card">
          <p>
            Incidents are sent to <strong>{address}</strong> when you confirm.
          </p>
          <form method="post" action={`${url}/confirm`}>
            <button class="button" type="submit">
              Confirm
            </button>
          </form>
        </section>
      </Frame>
    );
  }
  return (
    <Frame requested={requested} title="Your subscription" note={note}>
      <section class="card">
        <h2>Services</h2>
        <p class="muted">
          Incidents are sent to <strong>{address}</strong>.
        </p>
        <form method="post" action={url}>
          <ServiceChoice services={services} chosen={serviceIds} />
          <button class="button" type="submit">
            Save
          </button>
        </form>
      </section>
      <UnsubscribeCard url={url} />
    </Frame>
  );
}

/** For links of mails: a POST ends the subscription, a GET only asks. */
export function UnsubscribeView({ requested, url }: PageProps & { readonly url: string }): VNode {
  return (
    <Frame requested={requested} title="Unsubscribe">
      <UnsubscribeCard url={url} />
    </Frame>
  );
}

export function UnsubscribedView({ requested }: PageProps): VNode {
  return (
    <Frame requested={requested} title="You are unsubscribed">
      <section class="card">
        <p>No further messages are sent, and the address is deleted.</p>
      </section>
    </Frame>
  );
}

function UnsubscribeCard({ url }: { readonly url: string }): VNode {
  return (
    <section class="card">
      <h2>Unsubscribe</h2>
      <form method="post" action={`${url}/unsubscribe`}>
        <p class="muted">No further messages are sent, and the address is deleted.</p>
        <button class="button quiet" type="submit">
          Unsubscribe
        </button>
      </form>
    </section>
  );
}

function Frame({
  requested,
  title,
  note = null,
  children,
}: PageProps & { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <StatusLayout requested={requested} title={title}>
      <h1>{title}</h1>
      {note !== null && (
        <p class="card" role={note.isError ? 'alert' : 'status'}>
          <strong>{note.text}</strong>
        </p>
      )}
      {children}
    </StatusLayout>
  );
}

/** All services, or some: without a script, the boxes count only for the latter. */
function ServiceChoice({
  services,
  chosen,
}: {
  readonly services: readonly ChoosableService[];
  /** null for all. */
  readonly chosen: readonly string[] | null;
}): VNode | null {
  if (services.length < 2) return null;
  return (
    <fieldset>
      <legend>Incidents of</legend>
      <label>
        <input type="radio" name="scope" value="all" checked={chosen === null} /> All services
      </label>
      <label>
        <input type="radio" name="scope" value="some" checked={chosen !== null} /> Only these
      </label>
      {/* Hidden by the style while all are chosen. */}
      <fieldset class="choice" aria-label="Services">
        {services.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              name="services"
              value={id}
              checked={chosen?.includes(id) ?? false}
            />
            <bdi>{name}</bdi>
          </label>
        ))}
      </fieldset>
    </fieldset>
  );
}
