import type { IncidentStatus } from '../../../../model/incident/dashboard-incident.ts';
import {
  type IncidentSeverity,
  stateUnder,
} from '../../../../model/incident/status-page-incident.ts';
import { shortenedToBytes } from '../../../../runtime/text/cut-text.ts';
import { htmlEscaped } from '../../../../runtime/text/html-escaped.ts';
import { onOneLine } from '../../../../runtime/text/one-line.ts';
import { CONDITION_WORDS } from '../../../../web/status/conditions.tsx';
import { INCIDENT_STATUS_WORDS, instantText } from '../../../../web/status/texts.tsx';
import type { AnnouncedUpdate } from './announcements.sql.ts';

const MAX_SUBJECT_BYTES = 300;
const MAX_STRANGER_NAME_CHARS = 60;
const MAX_NAMED_SERVICES = 20;

/** The page of a message, and the links to it. */
export interface MessagePage {
  readonly name: string;
  /** The base of links, without a slash at its end. */
  readonly base: string;
  /** Names the subscriber. */
  readonly token: string;
}

interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page where a subscription is confirmed, changed and ended. */
export function subscriptionUrl({ base, token }: Pick<MessagePage, 'base' | 'token'>): string {
  return `${base}/subscriptions/${token}`;
}

/** The URL at which a single POST ends the subscription (RFC 8058). */
export function unsubscribeUrl(page: Pick<MessagePage, 'base' | 'token'>): string {
  return `${subscriptionUrl(page)}/unsubscribe`;
}

export function confirmationMail(page: MessagePage): MailContent {
  const name = nameForStrangers(page.name);
  return mail(page, {
    subject: `Confirm your subscription to ${name}`,
    paragraphs: [
      `Somebody asked for emails about incidents on ${name}. If it was you, confirm within a day:`,
    ],
    link: { text: 'Confirm the subscription', url: subscriptionUrl(page) },
    last: 'If it was not you, ignore this email: the address gets nothing else.',
  });
}

export function alreadySubscribedMail(page: MessagePage): MailContent {
  const name = nameForStrangers(page.name);
  return mail(page, {
    subject: `You are subscribed to ${name}`,
    paragraphs: [
      `Somebody asked for emails about incidents on ${name}. This address is already subscribed. Choose services, or unsubscribe:`,
    ],
    link: { text: 'Change the subscription', url: subscriptionUrl(page) },
    last: 'If it was not you, ignore this email: nothing has changed.',
  });
}

export function updateMail(page: MessagePage, update: AnnouncedUpdate): MailContent {
  const status = statusWord(update.status);
  return mail(page, {
    subject: `[${onOneLine(page.name)}] ${status}: ${onOneLine(update.incidentName)}`,
    heading: onOneLine(update.incidentName),
    facts: [
      ['Status', status],
      ['Impact', impactText(update)],
      ['Services', servicesText(update)],
      ['Time', instantText(timeOf(update).getTime())],
    ],
    paragraphs: update.description.split(/\r?\n/).filter((line) => line.trim() !== ''),
    link: { text: 'Read more', url: incidentUrl(page, update) },
    last: `You get this email because you subscribed to ${onOneLine(page.name)}.`,
  });
}

/** The JSON that a webhook gets. */
export function updatePayload(
  page: MessagePage,
  update: AnnouncedUpdate,
  deliveryId: string,
): string {
  return JSON.stringify({
    type: 'incident.update',
    id: deliveryId,
    page: { name: page.name, url: page.base },
    incident: {
      id: update.incidentId,
      name: update.incidentName,
      severity: update.severity,
      status: update.status,
      services: update.services,
      startedAt: update.startedAt.toISOString(),
      url: incidentUrl(page, update),
    },
    update: {
      status: update.status,
      description: update.description,
      at: timeOf(update).toISOString(),
    },
    unsubscribeUrl: unsubscribeUrl(page),
  });
}

export const CHALLENGE_TYPE = 'subscription.challenge';

/** The JSON by which a webhook is confirmed. */
export function challengePayload(
  page: Pick<MessagePage, 'name' | 'base'>,
  challenge: string,
): string {
  const { name, base } = page;
  return JSON.stringify({ type: CHALLENGE_TYPE, challenge, page: { name, url: base } });
}

function statusWord(status: string): string {
  return INCIDENT_STATUS_WORDS[status as IncidentStatus] ?? status;
}

/** Describes the impact in the words of the page. */
function impactText({ severity }: AnnouncedUpdate): string {
  return CONDITION_WORDS[stateUnder([severity as IncidentSeverity])];
}

function timeOf({ publicAt, createdAt }: AnnouncedUpdate): Date {
  return publicAt ?? createdAt;
}

function incidentUrl({ base }: MessagePage, { incidentId }: AnnouncedUpdate): string {
  return `${base}/incidents/${incidentId}`;
}

function servicesText({ services }: AnnouncedUpdate): string {
  const shown = services.slice(0, MAX_NAMED_SERVICES).map(({ name }) => onOneLine(name));
  const more = services.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Shortens the name of a page for mails to unconfirmed addresses, and removes everything that a mail program would
 * turn into a link: anybody can enter an address, and the account chooses the name.
 */
function nameForStrangers(name: string): string {
  const words = onOneLine(name.normalize('NFKC'))
    .replaceAll(/[:/\\@]+(?=\S)/g, ' ')
    // The dots of IDNA (RFC 3490 3.1) and of IPv4 addresses, not those of sentences and versions.
    .replaceAll(/(?<=\S)[.\u3002](?=[\p{N}-]*\p{L})/gu, ' ')
    .replaceAll(/\d+(?:\.\d+){3,}/g, (address) => address.replaceAll('.', ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const chars = [...words];
  return chars.length > MAX_STRANGER_NAME_CHARS
    ? `${chars.slice(0, MAX_STRANGER_NAME_CHARS).join('').trim()}…`
    : words;
}

/** Builds a mail. The subject is one line, whatever the names contain, so that no text becomes a header. */
function mail(
  page: MessagePage,
  {
    subject,
    heading = subject,
    facts = [],
    paragraphs,
    link,
    last,
  }: {
    readonly subject: string;
    readonly heading?: string;
    readonly facts?: readonly (readonly [string, string])[];
    readonly paragraphs: readonly string[];
    readonly link: { readonly text: string; readonly url: string };
    readonly last: string;
  },
): MailContent {
  const leave = unsubscribeUrl(page);
  const manage = subscriptionUrl(page);
  // A mail that asks the reader to open this link contains it only once.
  const footLinks = [
    ...(link.url === manage ? [] : [{ text: 'Change the subscription', url: manage }]),
    { text: 'Unsubscribe', url: leave },
  ];
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th align="left">${htmlEscaped(label)}</th><td dir="auto">${htmlEscaped(value)}</td></tr>`,
  );
  return {
    subject: shortenedToBytes(subject, MAX_SUBJECT_BYTES),
    text: [
      heading,
      '',
      ...facts.map(([label, value]) => `${label}: ${value}`),
      ...(facts.length > 0 ? [''] : []),
      ...paragraphs.flatMap((text) => [text, '']),
      `${link.text}: ${link.url}`,
      '',
      '-- ',
      last,
      ...footLinks.map(({ text, url }) => `${text}: ${url}`),
      '',
    ].join('\n'),
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5"><h2 dir="auto">${htmlEscaped(heading)}</h2>${
      rows.length === 0 ? '' : `<table cellpadding="4">${rows.join('')}</table>`
    }${paragraphs.map((text) => `<p dir="auto">${htmlEscaped(text)}</p>`).join('')}<p>${anchor(link)}</p><hr><p><small>${htmlEscaped(last)} ${footLinks.map(anchor).join(' · ')}</small></p></body></html>`,
    headers: {
      'List-Unsubscribe': `<${leave}>`,
      // RFC 8058 3.1.
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}

function anchor({ text, url }: { readonly text: string; readonly url: string }): string {
  return `<a href="${htmlEscaped(url)}">${htmlEscaped(text)}</a>`;
}
