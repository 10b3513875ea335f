import { htmlEscaped } from '../../../../runtime/text/html-escaped.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, fitEscaped, plainTextOf, shortRows } from './message-texts.ts';

/** Published: 65,536 bytes for an event, which the homeserver adds to. Each text is there twice. */
const MAX_TEXT_CHARS = 5000;
const MAX_ERROR_CHARS = 8000;
const MAX_VALUE_CHARS = 500;

/** Matrix: m.room.message of the client-server API. A repeated transaction ID is not sent twice. */
export const matrix: Adapter<'MATRIX'> = {
  type: 'MATRIX',
  request({ config, facts, deliveryId }) {
    const { headline, error, link, acknowledgeLink } = facts;
    const rows = shortRows(facts.rows, MAX_VALUE_CHARS);
    const room = encodeURIComponent(config.roomId);
    const path = `_matrix/client/v3/rooms/${room}/send/m.room.message/${encodeURIComponent(deliveryId)}`;
    const plain = [headline, plainTextOf({ ...facts, rows }), ...(link === null ? [] : [link])];
    const html = [
      `<strong>${htmlEscaped(headline)}</strong>`,
      ...(error === null ? [] : [fitEscaped(error, MAX_ERROR_CHARS, htmlEscaped)]),
      ...rows.map(
        ([label, value]) => `<strong>${htmlEscaped(label)}:</strong> ${htmlEscaped(value)}`,
      ),
      ...(link === null ? [] : [anchor(link, 'Details')]),
      ...(acknowledgeLink === null ? [] : [anchor(acknowledgeLink, 'Acknowledge')]),
    ];
    return jsonRequest(
      endpointOf(config.url, path),
      {
        msgtype: 'm.text',
        body: fitChars(plain.join('\n'), MAX_TEXT_CHARS),
        format: 'org.matrix.custom.html',
        formatted_body: html.join('<br>').replaceAll('\n', '<br>'),
        // Whatever a text contains, nobody is mentioned.
        'm.mentions': {},
      },
      { authorization: `Bearer ${config.accessToken}` },
    );
  },
  retryAfterMs(body) {
    const { retry_after_ms: afterMs } = (body ?? {}) as { readonly retry_after_ms?: unknown };
    return typeof afterMs === 'number' ? afterMs : null;
  },
};

function anchor(url: string, text: string): string {
  return `<a href="${htmlEscaped(url)}">${text}</a>`;
}
