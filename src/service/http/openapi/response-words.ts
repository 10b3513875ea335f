/** The description of a response whose schema and summary give none. */
const DEFAULT_TEXT = 'The request was carried out.';

/**
 * Derives the description of a response without one from the summary of its operation, such as `List snippets,
 * oldest first`. Operations with verbs other than list, read, create and change must describe the schema of
 * their response.
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
