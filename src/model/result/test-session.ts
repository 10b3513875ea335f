import { z } from 'zod';

/** Per request. */
export const MAX_SESSION_REQUEST_RESULTS = 1_000;
/** Length of the JSON of one request, decompressed. */
export const MAX_SESSION_REQUEST_BYTES = 4 * 1024 * 1024;
/** Per session. */
export const MAX_SESSION_RESULTS = 50_000;
/** Runs that were not made, per session. */
export const MAX_SESSION_MISSED = 10_000;

export const PROJECT_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** The id of a project in paths. */
export const projectIdSchema = z
  .string()
  .regex(
    PROJECT_ID,
    'must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit',
  )
  .describe('What is tested: a slug of your choice. Errors are grouped per project.');

const fact = (maxChars: number, what: string) =>
  z.string().min(1).max(maxChars).nullable().default(null).describe(what);

/** The facts about a session in its first request. */
export const testSessionFactsSchema = z.strictObject({
  name: fact(255, 'The name of the session.'),
  projectId: projectIdSchema
    .nullable()
    .default(null)
    .describe(projectIdSchema.description ?? ''),
  environment: fact(100, 'What the checks ran against, for example staging.'),
  provider: fact(100, 'What ran the session, for example the name of the CI system.'),
  repository: fact(2048, 'The repository of the code.'),
  branch: fact(255, 'The branch of the code.'),
  commitId: fact(255, 'The commit of the code.'),
});
export type TestSessionFacts = z.infer<typeof testSessionFactsSchema>;
