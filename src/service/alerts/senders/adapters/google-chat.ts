import { htmlEscaped } from '../../../../runtime/text/html-escaped.ts';
import type { MessageFacts } from '../message-facts.ts';
import { type Adapter, jsonRequest } from './adapter.ts';
import { fitChars, fitEscaped, fittingMessage, shortRows } from './message-texts.ts';

/** Published: 32,000 bytes for text and cards. */
const MAX_BYTES = 30_000;
const MAX_TITLE_CHARS = 500;
const MAX_ERROR_CHARS = 2000;
const MAX_VALUE_CHARS = 500;

/**
 * Google Chat: a card to the webhook of a space. All notices of a problem are in one thread, by the key of the problem.
 */
export const googleChat: Adapter<'GOOGLE_CHAT'> = {
  type: 'GOOGLE_CHAT',
  request({ config, facts, key }) {
    const url = new URL(config.url);
    url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    const rows = shortRows(facts.rows, MAX_VALUE_CHARS);
    const message = fittingMessage(rows, MAX_BYTES, (shown) => messageOf(facts, shown, key));
    return jsonRequest(url, message);
  },
};

function messageOf(
  { title, error, link, acknowledgeLink }: MessageFacts,
  rows: MessageFacts['rows'],
  key: string,
): object {
  const errorText = error === null ? [] : [{ textParagraph: { text: htmlText(error) } }];
  const facts = rows.map(([topLabel, value]) => ({
    decoratedText: { topLabel, text: htmlEscaped(value), wrapText: true },
  }));
  const buttons = [
    ...(link === null ? [] : [button('Details', link)]),
    ...(acknowledgeLink === null ? [] : [button('Acknowledge', acknowledgeLink)]),
  ];
  const buttonList = buttons.length === 0 ? [] : [{ buttonList: { buttons } }];
  return {
    // The text of notifications.
    text: withoutMentions(fitChars(title, MAX_TITLE_CHARS)),
    cardsV2: [
      {
        cardId: 'notification',
        card: {
          sections: [{ widgets: [...errorText, ...facts, ...buttonList] }],
        },
      },
    ],
    thread: { threadKey: key },
  };
}

function button(text: string, url: string) {
  return { text, onClick: { openLink: { url } } };
}

/** Texts of cards support some HTML. */
function htmlText(text: string): string {
  return fitEscaped(text, MAX_ERROR_CHARS, htmlEscaped);
}

/** Messages interpret `<users/all>` and `<URL|text>`, and have no escape for them. */
function withoutMentions(text: string): string {
  return text.replaceAll('<', '‹').replaceAll('>', '›');
}
