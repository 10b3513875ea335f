import { JSONPathEnvironment, type JSONPathQuery } from 'json-p3';

/** The users' expressions in assertions (src/model/README.md, "Assertions"). */

/** Maximum depth for `..`: deeper documents are rejected, not searched in part. */
const MAX_DEPTH = 1000;

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });

/** The regular expression (ECMAScript, without flags), or the problem with it. */
export function parsePattern(text: string): RegExp | string {
  try {
    return new RegExp(text);
  } catch (thrown) {
    // V8 repeats the pattern, which may be long.
    return messageOf(thrown).replace(`Invalid regular expression: /${text}/: `, () => '');
  }
}

/** The JSONPath (RFC 9535), or the problem with it. */
export function parseJsonPath(text: string): JSONPathQuery | string {
  try {
    return environment.compile(text);
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
