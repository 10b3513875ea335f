import { describe, expect, it } from 'vitest';
import { withSnippetScripts } from '../../../../src/service/account-export/snippet-scripts.ts';

describe('the snippets that an exported check runs', () => {
  it('are scripts of the check, and one that is gone is noted and left out', () => {
    const unknown: string[] = [];
    const fields = {
      name: 'a',
      setupSnippetId: 1,
      setupScript: null,
      teardownSnippetId: 2,
      teardownScript: null,
    };
    expect(withSnippetScripts(fields, new Map([[1, 'go();']]), () => unknown.push('a'))).toEqual({
      name: 'a',
      setupSnippetId: null,
      setupScript: 'go();',
      teardownSnippetId: null,
      teardownScript: null,
    });
    expect(unknown).toEqual(['a']);
  });
});
