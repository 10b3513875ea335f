import { z } from 'zod';

/**
 * A piece of code (src/service/README.md, "Snippets"). It is stored and returned, but never run.
 */
export const snippetSchema = z.strictObject({
  name: z.string().min(1).max(255).describe('The name of the snippet, unique in the account.'),
  script: z.string().max(500_000).describe('The code. It is stored and never run.'),
});
export type Snippet = z.output<typeof snippetSchema>;
