/** What a response is whose schema and summary do not say it. */
const DEFAULT_TEXT = 'The request was carried out.';

/**
 * What a response is, where its schema has no description: what the operation lists, reads, creates or
 * changes, by its summary (`List snippets, oldest first`). Operations with other verbs describe the schema
 * of their response.
 */
export function responseWords(summary: string, status: number): string {
  const [, verb = '', object = ''] = /^(\w+)(?: or \w+)? (.+)$/.exec(summary) ?? [];
  switch (verb) {
    case 'List':
      return sentence(object);
    case 'Read':
    case 'Report':
      return sentence(object.replace(/^(?:an?|one) /, 'the '));
    case 'Create':
    case 'Add':
    case 'Update':
    case 'Change':
    case 'Archive':
      return status === 201
        ? `The new ${thingIn(object)}.`
        : `The ${thingIn(object)}, as it is now.`;
    default:
      return DEFAULT_TEXT;
  }
}

/** `check` of `a check, or create it under a given id`. */
function thingIn(object: string): string {
  const [thing = object] = object.split(/[;:]|, (?:and|or) /);
  return thing.replace(/^(?:an?|the) /, '');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
