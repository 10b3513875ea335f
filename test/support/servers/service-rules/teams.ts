import { z } from 'zod';
import { JSON_TYPE, type ServiceRules } from './rules.ts';

const TextRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string(),
  weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
});
const RichText = z.strictObject({
  type: z.literal('RichTextBlock'),
  inlines: z.array(TextRun).min(1),
});

/** Adaptive Cards 1.4 in a message of a workflow; 28 KB. */
export const teams: ServiceRules = {
  config: (origin) => ({ url: `${origin}/workflows/1/triggers/manual/paths/invoke?sig=a` }),
  requests: [
    {
      method: 'POST',
      path: /^\/workflows\/1\/triggers\/manual\/paths\/invoke\?sig=a$/,
      headers: JSON_TYPE,
      maxBytes: 28_000,
      body: z.object({
        type: z.literal('message'),
        summary: z.string(),
        attachments: z
          .array(
            z.strictObject({
              contentType: z.literal('application/vnd.microsoft.card.adaptive'),
              contentUrl: z.null(),
              content: z.strictObject({
                $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
                type: z.literal('AdaptiveCard'),
                version: z.enum(['1.0', '1.2', '1.3', '1.4']),
                fallbackText: z.string(),
                msteams: z.strictObject({ width: z.literal('Full') }),
                body: z.array(
                  z.union([
                    RichText,
                    z.strictObject({
                      type: z.literal('Container'),
                      style: z.enum([
                        'default',
                        'emphasis',
                        'good',
                        'attention',
                        'warning',
                        'accent',
                      ]),
                      bleed: z.boolean(),
                      items: z.array(RichText),
                    }),
                  ]),
                ),
                actions: z
                  .array(
                    z.strictObject({
                      type: z.literal('Action.OpenUrl'),
                      title: z.string(),
                      url: z.url(),
                    }),
                  )
                  .max(6)
                  .optional(),
              }),
            }),
          )
          .length(1),
      }),
    },
  ],
  answer: { status: 202, body: '' },
};
