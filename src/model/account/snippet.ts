import { z } from 'zod';

/**
 * A piece of code (src/service/README.md, "Snippets"). API checks and groups run it in their setup or
 * teardown.
 */
export const snippetSchema = z.strictObject({
  name: z.string().min(1).max(255).describe('The name of the snippet, unique in the account.'),
  script: z
    .string()
    .max(500_000)
    .describe(
      'The code. Checks and groups run it as `setupSnippetId` or `teardownSnippetId`, if it has at most 100,000 characters. There are no browser checks that could contain it.',
    ),
});
export type Snippet = z.output<typeof snippetSchema>;
