import { z } from 'zod';
import { JSON_TYPE, type ServiceRules, TOKEN, text, time } from './rules.ts';

/** Execute Webhook; the limits of embeds. */
export const discord: ServiceRules = {
  config: (origin) => ({ url: `${origin}/api/webhooks/1/abc` }),
  requests: [
    {
      method: 'POST',
      path: /^\/api\/webhooks\/1\/abc\?wait=true$/,
      headers: JSON_TYPE,
      body: z.strictObject({
        content: text(2000),
        allowed_mentions: z.strictObject({ parse: z.array(z.string()).length(0) }),
        embeds: z
          .array(
            z
              .strictObject({
                title: z.string().max(256).optional(),
                url: z.url().optional(),
                description: z.string().max(4096).optional(),
                color: z.int().min(0).max(0xffffff),
                timestamp: time,
                fields: z
                  .array(
                    z.strictObject({ name: text(256), value: text(1024), inline: z.boolean() }),
                  )
                  .max(25),
              })
              .refine(({ title = '', description = '', fields }) => {
                const inner = fields.map(({ name, value }) => name.length + value.length);
                const sum = inner.reduce((all, one) => all + one, 0);
                return title.length + description.length + sum <= 6000;
              }),
          )
          .max(10),
      }),
    },
  ],
  answer: { status: 200, body: '{"id":"1"}' },
};

/** sendMessage: 1 to 4096 characters after the entities are parsed; a few tags of HTML. */
export const telegram: ServiceRules = {
  config: (origin) => ({ url: origin, botToken: '12:AbC', chatId: '-100123', threadId: 7 }),
  requests: [
    {
      method: 'POST',
      path: /^\/bot12:AbC\/sendMessage$/,
      headers: JSON_TYPE,
      body: z.strictObject({
        chat_id: z.union([z.string(), z.int()]),
        text: z.string().refine((html) => {
          const tags = html.match(/<[^>]*>/g) ?? [];
          const known = tags.every((tag) => /^<(?:\/?b|a href="[^"<>]*"|\/a)>$/.test(tag));
          const bare = html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:[a-z]+|#\d+);/g, '.');
          return known && !/[<>&]/.test(bare) && bare.length >= 1 && bare.length <= 4096;
        }),
        parse_mode: z.literal('HTML'),
        link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
        message_thread_id: z.int(),
      }),
    },
  ],
  answer: { status: 200, body: '{"ok":true,"result":{"message_id":1}}' },
};

/** Webhooks of spaces: 32,000 bytes; texts of cards in HTML. */
export const googleChat: ServiceRules = {
  config: (origin) => ({ url: `${origin}/v1/spaces/A/messages?key=k&token=t` }),
  requests: [
    {
      method: 'POST',
      path: /^\/v1\/spaces\/A\/messages\?key=k&token=t&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD$/,
      headers: JSON_TYPE,
      maxBytes: 32_000,
      body: z.strictObject({
        // A mention or a link would be in angle brackets.
        text: text(4096).regex(/^[^<>]*$/),
        thread: z.strictObject({ threadKey: text(4000) }),
        cardsV2: z
          .array(
            z.strictObject({
              cardId: z.string(),
              card: z.strictObject({
                sections: z.array(z.strictObject({ widgets: z.array(widget()).min(1).max(100) })),
              }),
            }),
          )
          .length(1),
      }),
      problem: ({ thread }: { thread: { threadKey: string } }) => ({
        key: thread.threadKey,
        // A thread has no end.
        isOver: false,
      }),
    },
  ],
  answer: { status: 200, body: '{"name":"spaces/A/messages/1"}' },
};

function widget() {
  const html = z.string().regex(/^[^<>]*$/);
  const button = z.strictObject({
    text: z.string(),
    onClick: z.strictObject({ openLink: z.strictObject({ url: z.url() }) }),
  });
  return z.union([
    z.strictObject({ textParagraph: z.strictObject({ text: html }) }),
    z.strictObject({
      decoratedText: z.strictObject({ topLabel: html, text: html, wrapText: z.boolean() }),
    }),
    z.strictObject({ buttonList: z.strictObject({ buttons: z.array(button) }) }),
  ]);
}

/** Incoming webhooks with attachments. Mentions would work in every text. */
export const mattermost: ServiceRules = {
  config: (origin) => ({ url: `${origin}/hooks/abc` }),
  requests: [
    {
      method: 'POST',
      path: /^\/hooks\/abc$/,
      headers: JSON_TYPE,
      body: z.strictObject({
        text: text(16_383).refine(hasNoMention),
        attachments: z.array(
          z.strictObject({
            fallback: z.string().refine(hasNoMention),
            color: z.string().regex(/^#[0-9a-f]{6}$/),
            title: z.string().optional(),
            title_link: z.url().optional(),
            text: z.string().max(16_383).refine(hasNoMention).optional(),
            fields: z.array(
              z.strictObject({
                title: z.string(),
                value: z.string().refine(hasNoMention),
                short: z.boolean(),
              }),
            ),
          }),
        ),
      }),
    },
  ],
  answer: { status: 200, body: 'ok' },
};

function hasNoMention(markdown: string): boolean {
  return !/@[a-z0-9._-]/i.test(markdown);
}

/** PUT /_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}; 65,536 bytes for an event. */
export const matrix: ServiceRules = {
  config: (origin) => ({ url: origin, roomId: '!room:matrix.test', accessToken: TOKEN }),
  requests: [
    {
      method: 'PUT',
      path: /^\/_matrix\/client\/v3\/rooms\/!room%3Amatrix\.test\/send\/m\.room\.message\/[\w.~-]+$/,
      headers: { ...JSON_TYPE, authorization: new RegExp(`^Bearer ${TOKEN}$`) },
      maxBytes: 60_000,
      body: z.strictObject({
        msgtype: z.enum(['m.text', 'm.notice']),
        body: z.string().min(1),
        format: z.literal('org.matrix.custom.html'),
        formatted_body: z.string().refine((html) => {
          const tags = html.match(/<[^>]*>/g) ?? [];
          return tags.every((tag) => /^<(?:\/?strong|br|a href="[^"<>]*"|\/a)>$/.test(tag));
        }),
        'm.mentions': z.strictObject({}),
      }),
    },
  ],
  answer: { status: 200, body: '{"event_id":"$1"}' },
};
