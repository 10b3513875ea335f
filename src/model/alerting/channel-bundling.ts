import { z } from 'zod';

const groupBy = z.enum(['LOCATION', 'GROUP', 'TAG']).nullable();
const digestHour = z.int().min(0).max(23).nullable();
const GROUP_BY_TEXT =
  'What the notifications of one message have in common: the location of the run, the group of the check, or its first tag. null: one message for each notification.';
const DIGEST_TEXT =
  "The hour of the day, in the account's time zone, in which one message lists the degraded checks of the last day; null: each is sent at once. Only with `sendDegraded`.";

/** How a channel gets fewer messages: src/service/README.md, "Grouping and digest". */
export const bundling = {
  groupBy: groupBy.default(null).describe(GROUP_BY_TEXT),
  groupWindow: z
    .int()
    .min(5)
    .max(300)
    .default(20)
    .describe(
      'How many seconds the first notification of a message waits for others, if `groupBy` is given.',
    ),
  degradedDigestHour: digestHour.default(null).describe(DIGEST_TEXT),
};

const isNull = (value: unknown): boolean => value === null;
const ONE_EACH = {
  error:
    'must be null: this service needs one message for each notification, so that the end of a problem closes its incident',
};

/** For services that close an incident by the key of its problem. */
export const noBundling: typeof bundling = {
  ...bundling,
  groupBy: groupBy.refine(isNull, ONE_EACH).default(null).describe(GROUP_BY_TEXT),
  degradedDigestHour: digestHour.refine(isNull, ONE_EACH).default(null).describe(DIGEST_TEXT),
};

const bundlingSchema = z.object(bundling);
export type ChannelBundling = Readonly<z.infer<typeof bundlingSchema>>;
