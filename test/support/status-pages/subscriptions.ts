import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { allowAll } from '../../../src/runtime/net/address-guard.ts';
import { readOutgoingConfig } from '../../../src/service/outgoing/outgoing-config.ts';
import {
  createSubscriptionFeatures,
  type SubscriptionFeatureParts,
  type SubscriptionFeatures,
} from '../../../src/service/status-pages/subscriptions/create-feature.ts';
import type { SubscribedPage } from '../../../src/service/status-pages/subscriptions/subscribe.ts';
import { eventually } from '../eventually.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';
import type { HookRequest } from '../servers/hook-server.ts';
import type { ReceivedMail } from '../servers/mail-server.ts';
import type { Reply } from '../service/service-app.ts';
import { TEST_SECRETS } from '../service/service-features.ts';
import type { TestService } from '../service/service-fixture.ts';

export const PUBLIC_URL = 'https://vedette.test';
/** The address of somebody who subscribes. */
export const CLIENT = '203.0.113.7';
/** All services of a page. */
export const ALL = null;

export interface TestPage extends SubscribedPage {
  readonly url: string;
}

/** A page of the account with services of these names. */
export async function makePage(
  { mine }: TestService,
  names: readonly string[] = ['Shop', 'Search'],
  fields: object = {},
): Promise<TestPage> {
  const serviceIds: string[] = [];
  for (const name of names) {
    const made = await mine.post('/v1/status-pages/services', { name });
    serviceIds.push(made.json.id);
  }
  const url = `page-${randomUUID()}`;
  const made = await mine.post('/v1/status-pages', {
    name: 'Acme',
    url,
    cards: [{ name: 'All', services: serviceIds }],
    ...fields,
  });
  if (made.status !== 201) throw new Error(`no page: ${made.text}`);
  return {
    accountId: mine.accountId,
    pageId: made.json.id,
    name: made.json.name,
    base: `${PUBLIC_URL}/status/${url}`,
    isOnOwnDomain: false,
    serviceIds,
    url,
  };
}

/** An incident of these services, whose first update notifies subscribers. */
export async function openIncident(
  { mine }: TestService,
  services: readonly string[],
  fields: object = {},
  update: object = {},
): Promise<Reply['json']> {
  const made = await mine.post('/v1/status-pages/incidents', {
    name: 'Payments fail',
    severity: 'MAJOR',
    services,
    incidentUpdates: [
      {
        status: 'INVESTIGATING',
        description: 'We look into it.',
        notifySubscribers: true,
        ...update,
      },
    ],
    ...fields,
  });
  if (made.status !== 201) throw new Error(`no incident: ${made.text}`);
  return made.json;
}

export interface Replica extends SubscriptionFeatures {
  readonly logs: LogCapture;
  /** Sends messages until it is stopped, at the latest when the test ends. */
  start(): void;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

/** The feature as another process has it. Sends nothing before `start`. */
export function replicaOf(
  { store, clock }: Pick<TestService, 'store' | 'clock'>,
  { port }: { readonly port: number | null },
  own: Partial<SubscriptionFeatureParts> = {},
): Replica {
  const logs = captureLog();
  const features = createSubscriptionFeatures({
    store,
    clock,
    log: logs.log,
    ids: randomUUID,
    secrets: TEST_SECRETS,
    retentionDays: 30,
    delivery:
      port === null
        ? undefined
        : readOutgoingConfig({
            SMTP_URL: `smtp://127.0.0.1:${port}`,
            SMTP_FROM: 'Vedette <status@vedette.test>',
          }),
    publicUrl: PUBLIC_URL,
    webhookGuard: allowAll,
    limits: undefined,
    ...own,
  });
  const stopping = new AbortController();
  let ended: Promise<unknown> = Promise.resolve();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  onTestFinished(stop);
  return {
    ...features,
    logs,
    start() {
      ended = Promise.all(features.subscriptionKeepers.map((keep) => keep(stopping.signal)));
    },
    stop,
  };
}

/** A subscriber by email who has confirmed. */
export async function confirmed(
  { subscriptions }: Pick<Replica, 'subscriptions'>,
  page: TestPage,
  mails: readonly ReceivedMail[],
  email = 'ann@example.com',
  services: readonly string[] | null = ALL,
): Promise<string> {
  const before = mails.length;
  await subscriptions.subscribeEmail(page, { email, services }, CLIENT);
  await eventually(() => mails.length > before);
  const token = tokenIn(mails.at(-1));
  await subscriptions.confirm(page, token);
  return token;
}

/** A webhook that answers challenges. */
export function confirming(
  { body }: Pick<HookRequest, 'body'>,
  response: { end(text: string): unknown },
): void {
  const { type, challenge } = JSON.parse(body);
  response.end(type === 'subscription.challenge' ? JSON.stringify({ challenge }) : 'ok');
}

/** The source of a mail with folded headers unfolded, and quoted-printable decoded. */
export function mailText({ source }: Pick<ReceivedMail, 'source'>): string {
  return source
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

/** The token of the links in a mail. */
export function tokenIn(mail: Pick<ReceivedMail, 'source'> | undefined): string {
  const token = /\/subscriptions\/([\w-]{43})/.exec(mail === undefined ? '' : mailText(mail))?.[1];
  if (token === undefined) throw new Error('the mail has no link of a subscription');
  return token;
}
