import { z } from 'zod';

/** Setup and teardown scripts: src/model/README.md, "Setup and teardown scripts". */

/** The limit of a script, also of one in a snippet, in characters. */
export const MAX_SCRIPT_CHARS = 100_000;

const script = z.string().max(MAX_SCRIPT_CHARS).nullable().default(null);
const snippetId = z.int().min(1).nullable().default(null);

/** The fields of API checks and of check groups. */
export const scriptFields = {
  setupScript: script.describe(
    'JavaScript that runs before the request. Those of the group of the check run first.',
  ),
  teardownScript: script.describe(
    'JavaScript that runs after the response, also if the check fails. Those of the group of the check run last.',
  ),
  setupSnippetId: snippetId.describe('The id of a snippet that runs in place of `setupScript`.'),
  teardownSnippetId: snippetId.describe(
    'The id of a snippet that runs in place of `teardownScript`.',
  ),
};
export type ScriptFields = z.output<z.ZodObject<typeof scriptFields>>;
export const SCRIPT_FIELD_NAMES = [
  'setupScript',
  'teardownScript',
  'setupSnippetId',
  'teardownSnippetId',
] as const satisfies readonly (keyof ScriptFields)[];

/** A setup or teardown script is given as text or as a snippet, not as both. */
export function scriptRules(fields: ScriptFields, context: z.RefinementCtx): void {
  const refuse = (path: keyof ScriptFields, other: keyof ScriptFields): void => {
    const message = `must be null if ${other} is given: a script is given in one way`;
    context.addIssue({ code: 'custom', path: [path], message });
  };
  const { setupScript, setupSnippetId, teardownScript, teardownSnippetId } = fields;
  if (setupScript !== null && setupSnippetId !== null) refuse('setupSnippetId', 'setupScript');
  if (teardownScript !== null && teardownSnippetId !== null) {
    refuse('teardownSnippetId', 'teardownScript');
  }
}

/** One script, as an agent runs it. */
export const namedScriptSchema = z.object({
  /** Whose it is, for messages: `the check`, `the group`. */
  owner: z.enum(['check', 'group']),
  source: z.string(),
});
export type NamedScript = z.output<typeof namedScriptSchema>;

/** The scripts of a check with those of its group, and with the texts of snippets, in their order. */
export const checkScriptsSchema = z.object({
  setup: z.array(namedScriptSchema).max(2).default([]),
  teardown: z.array(namedScriptSchema).max(2).default([]),
});
export type CheckScripts = z.output<typeof checkScriptsSchema>;

type WithScripts = Partial<ScriptFields> & { readonly scripts?: CheckScripts | undefined };

/**
 * The scripts of a check for its agent.
 *
 * @param check with `scripts` if a service sent it, or if its group in a file has some
 */
export function scriptsOf(check: WithScripts): CheckScripts {
  if (check.scripts !== undefined) return check.scripts;
  const own = (source: string | null | undefined): NamedScript[] =>
    isBlank(source) ? [] : [{ owner: 'check', source }];
  return { setup: own(check.setupScript), teardown: own(check.teardownScript) };
}

/** Whether an agent runs scripts for a check, which may be of any type. */
export function hasScripts(check: WithScripts & { readonly checkType: string }): boolean {
  const { setup, teardown } = scriptsOf(check);
  return setup.length + teardown.length > 0;
}

function isBlank(source: string | null | undefined): source is null | undefined | '' {
  return source === null || source === undefined || source === '';
}
