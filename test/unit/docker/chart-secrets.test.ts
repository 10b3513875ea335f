import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT } from '../../../src/agent/config/agent-config.ts';
import { SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import { CHART } from '../../support/kubernetes/tools.ts';

/** The variables that the chart refuses in `agent.env` or `service.env`, which make a ConfigMap. */
function refusedIn(part: 'agent' | 'service'): readonly string[] {
  const text = readFileSync(join(CHART, 'templates/_refusals.tpl'), 'utf8');
  const keys = /\$keys := list ([^}]*)}}/.exec(text)?.[1] ?? '';
  const refused = new RegExp(
    `"vedette\\.noSecrets" \\(list "${part}" \\$${part}\\.env (?:(\\$keys)|\\(list ([^)]*)\\)) `,
    'g',
  );
  const lists = [...text.matchAll(refused)].map(([, all, some]) =>
    all === undefined ? some : keys,
  );
  return [...lists.join(' ').matchAll(/"(\w+)"/g)].map(([, name = '']) => name);
}

const secretNames = (rows: typeof ENVIRONMENT): readonly string[] =>
  rows.filter(({ secret }) => secret).map(({ name }) => name);

describe('the chart refuses as plain variables', () => {
  it('every secret of the agent', () => {
    expect(refusedIn('agent')).toEqual(expect.arrayContaining([...secretNames(ENVIRONMENT)]));
  });

  it('every secret of the service, and variables that may come from a Secret', () => {
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
    const refs: readonly string[] =
      schema.properties.service.properties.secretRefs.propertyNames.enum;
    // An id, not a secret.
    const fromSecrets = refs.filter((name) => name !== 'S3_ACCESS_KEY_ID');
    const all = [...fromSecrets, ...secretNames(SERVICE_ENVIRONMENT)];
    expect(refusedIn('service')).toEqual(expect.arrayContaining(all));
  });
});
