import { z } from 'zod';

/** Fields that several types of alert channels have. */

/** The address of a receiver. */
export const webAddress = z
  .string()
  .max(2048)
  .refine(
    (text) => {
      if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return false;
      const { username, password } = new URL(text);
      return username === '' && password === '';
    },
    {
      error:
        'must be an http or https URL without a user and password in it, for example https://example.com/hooks/1',
    },
  );

/** The description of the configuration of a channel. */
export function receiverText(receiver: string): string {
  return `Where ${receiver} receives the notifications.`;
}

/** The name by which people recognise a channel. */
export const channelName = z.string().min(1).max(255);
