import { z } from 'zod';

/** The form of every error: src/service/README.md, "The API". */
export const errorSchema = z.object({
  statusCode: z.number().describe('The HTTP status code.'),
  error: z.string().describe('The status phrase.'),
  message: z.string().describe('What is wrong, and what to do.'),
  attributes: z
    .record(z.string(), z.unknown())
    .describe('Data for programs, depending on the status.'),
});
