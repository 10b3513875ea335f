import { describe, expect, it } from 'vitest';
import { responseWords } from '../../../../../src/service/http/openapi/response-words.ts';
import { operationsOf } from '../../../../support/openapi/document.ts';
import { serviceDocument } from '../../../../support/openapi/service-document.ts';

describe('the words for a response', () => {
  it.each([
    ['List snippets, oldest first', 200, 'Snippets, oldest first.'],
    ['List who changed what', 200, 'Who changed what.'],
    ['Read a snippet', 200, 'The snippet.'],
    ['Read why a result is as it is', 200, 'Why a result is as it is.'],
    ['Report how an API check did over time', 200, 'How an API check did over time.'],
    ['Create a key for agents; at most two are active', 201, 'The new key for agents.'],
    ['Add an update to an incident', 201, 'The new update to an incident.'],
    ['Update a check, or create it under a given id', 200, 'The check, as it is now.'],
    ['Archive or unarchive an error group', 200, 'The error group, as it is now.'],
    ['Create a session, or add results to one', 200, 'The session, as it is now.'],
  ])('of "%s", %i, say what it is', (summary, status, words) => {
    expect(responseWords(summary, status)).toBe(words);
  });

  it('are those of its own schema for every other operation', async () => {
    const unsaid = responseWords('', 200);
    const operations = operationsOf(await serviceDocument());
    const found = operations.flatMap(({ name, responses }) =>
      Object.entries(responses)
        .filter(([, response]) => Object(response).description === unsaid)
        .map(([status]) => `${name} ${status}`),
    );
    expect(found, 'add .describe(…) to the schema of the response').toEqual([]);
  });
});
