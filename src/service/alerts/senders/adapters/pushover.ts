import { type Adapter, endpointOf } from './adapter.ts';
import { fitChars, plainTextOf } from './message-texts.ts';

/** Published. */
const MAX_MESSAGE_CHARS = 1024;
const MAX_TITLE_CHARS = 250;
const MAX_URL_CHARS = 512;
/** Above the quiet hours of the user. Priority 2 would repeat until somebody confirms it in the app. */
const HIGH = '1';
const NORMAL = '0';

/** Pushover: a message as a form. It is plain text. */
export const pushover: Adapter<'PUSHOVER'> = {
  type: 'PUSHOVER',
  request({ config, facts }) {
    const { headline, severity, link, startedAtMs } = facts;
    const form = new URLSearchParams({
      token: config.token,
      user: config.userKey,
      title: fitChars(headline, MAX_TITLE_CHARS),
      message: fitChars(plainTextOf(facts), MAX_MESSAGE_CHARS),
      priority: severity === 'critical' ? HIGH : NORMAL,
      timestamp: String(Math.floor(startedAtMs / 1000)),
    });
    if (config.device !== null) form.set('device', config.device);
    // A link that is cut would be useless.
    if (link !== null && link.length <= MAX_URL_CHARS) {
      form.set('url', link);
      form.set('url_title', 'Details');
    }
    return {
      url: endpointOf(config.url, '1/messages.json'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    };
  },
};
