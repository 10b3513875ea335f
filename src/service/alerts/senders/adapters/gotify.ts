import type { Severity } from '../message-facts.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, plainTextOf } from './message-texts.ts';

/** The service publishes no limits; phones show no more. */
const MAX_TITLE_CHARS = 250;
const MAX_MESSAGE_CHARS = 4000;
/** From 8 on phones ring, from 4 on they show the message. */
const PRIORITIES: Readonly<Record<Severity, number>> = { critical: 8, warning: 5, ok: 4 };

/** Gotify: a message of an application, shown as plain text. */
export const gotify: Adapter<'GOTIFY'> = {
  type: 'GOTIFY',
  request({ config, facts }) {
    const { headline, severity, link } = facts;
    return jsonRequest(
      endpointOf(config.url, 'message'),
      {
        title: fitChars(headline, MAX_TITLE_CHARS),
        message: fitChars(plainTextOf(facts), MAX_MESSAGE_CHARS),
        priority: PRIORITIES[severity],
        extras: {
          'client::display': { contentType: 'text/plain' },
          ...(link === null ? {} : { 'client::notification': { click: { url: link } } }),
        },
      },
      { 'x-gotify-key': config.token },
    );
  },
};
