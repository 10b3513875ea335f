import { z } from 'zod';
import {
  ACKNOWLEDGER_KINDS,
  type Acknowledgement,
} from '../../../model/alerting/acknowledgement.ts';

/** An acknowledgement in responses. */
export const acknowledgement = z
  .strictObject({
    by: z
      .strictObject({
        kind: z
          .enum(ACKNOWLEDGER_KINDS)
          .describe('`channel`: whoever has the link in a message to the channel.'),
        id: z.string().describe('The id of the user, of the API key or of the channel.'),
        name: z
          .string()
          .describe('The email of the user, or the name of the key or channel, at that time.'),
      })
      .describe('Who acknowledged it.'),
    at: z.iso.datetime().describe('When it was acknowledged.'),
  })
  .meta({ title: 'Acknowledgement' });

export function presentAcknowledgement({
  by,
  atMs,
}: Acknowledgement): z.output<typeof acknowledgement> {
  return { by, at: new Date(atMs).toISOString() };
}
