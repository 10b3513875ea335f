import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVENT_KINDS } from '../../../../src/service/events/kinds.ts';
import { serviceDocument } from '../../../support/openapi/service-document.ts';

const SERVICE = join(import.meta.dirname, '../../../../src/service');
const MIGRATIONS = join(SERVICE, 'database/migrations');
const CHANGES = ['created', 'updated', 'deleted'];

/** The kinds that the triggers of all migrations write. */
function writtenKinds(): readonly string[] {
  const sql = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(join(MIGRATIONS, name), 'utf8'))
    .join('\n');
  const changing = [...sql.matchAll(/execute function record_change_event\('(\w+)'\)/g)];
  const others = [...sql.matchAll(/record_event\((?:new|old)\.account_id,([^;]*);/g)];
  return [
    ...changing.flatMap(([, kind]) => CHANGES.map((change) => `${kind}.${change}`)),
    ...others.flatMap(([, rest = '']) =>
      [...rest.matchAll(/'(\w+\.\w+)'/g)].map(([, kind = '']) => kind),
    ),
  ];
}

/** The kinds in src/service/README.md, where `….updated` has the resource of the kind before it. */
function describedKinds(): readonly string[] {
  const readme = readFileSync(join(SERVICE, 'README.md'), 'utf8');
  const [, table = ''] = /^\| Event \| When \| `data` \|\n([\s\S]*?)\n\n/m.exec(readme) ?? [];
  return table.split('\n').flatMap((row) => {
    const names = [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, name = '']) => name,
    );
    const [resource = ''] = (names[0] ?? '').split('.');
    return names.map((name) => name.replace('…', resource));
  });
}

describe('the kinds of events', () => {
  it('are those that the triggers write', () => {
    expect(new Set(EVENT_KINDS)).toEqual(new Set(writtenKinds()));
  });

  it('are those that the API describes, once each', () => {
    const described = describedKinds();
    expect(new Set(described)).toEqual(new Set(EVENT_KINDS));
    expect(described).toHaveLength(EVENT_KINDS.length);
  });

  it('are values of `kind` in the OpenAPI document, beside those of later releases', async () => {
    const { components } = await serviceDocument();
    const kind = { anyOf: [{ type: 'string', enum: EVENT_KINDS }, { type: 'string' }] };
    expect(components.schemas).toMatchObject({ Event: { properties: { kind } } });
  });
});
