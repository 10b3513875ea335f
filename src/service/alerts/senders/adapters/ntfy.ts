import type { Severity } from '../message-facts.ts';
import { type Adapter, jsonRequest } from './adapter.ts';
import { fitBytes, plainTextOf } from './message-texts.ts';

/** Published: 4096 bytes; a longer message becomes a file. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_TITLE_BYTES = 250;
const PRIORITIES: Readonly<Record<Severity, number>> = { critical: 5, warning: 4, ok: 3 };
/** Names of the emojis before the title. */
const TAGS: Readonly<Record<Severity, string>> = {
  critical: 'rotating_light',
  warning: 'warning',
  ok: 'white_check_mark',
};

/** ntfy: a message as JSON, which is sent to the root of the server. It is plain text. */
export const ntfy: Adapter<'NTFY'> = {
  type: 'NTFY',
  request({ config, facts }) {
    const { headline, severity, link } = facts;
    return jsonRequest(
      new URL(config.url),
      {
        topic: config.topic,
        title: fitBytes(headline, MAX_TITLE_BYTES),
        message: fitBytes(plainTextOf(facts), MAX_MESSAGE_BYTES),
        priority: PRIORITIES[severity],
        tags: [TAGS[severity]],
        ...(link === null ? {} : { click: link }),
      },
      config.token === null ? {} : { authorization: `Bearer ${config.token}` },
    );
  },
};
