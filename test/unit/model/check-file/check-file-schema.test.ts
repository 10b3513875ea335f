import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { knownDefaults } from '../../../../src/agent/source/common/check-defaults.ts';
import {
  parseCheckFile,
  parsePlainCheckFile,
} from '../../../../src/agent/source/file/parse-check-file.ts';
import { checkFileSchema } from '../../../../src/model/check-file/check-file-schema.ts';
import { DOCUMENTS, ROOT, readDocument } from '../../../support/documents.ts';
import { importSource } from '../../../support/import-sources.ts';

const schema = checkFileSchema();
const accepts = new Ajv({ strict: false, validateFormats: false }).compile(schema);

async function isValid(text: string): Promise<boolean> {
  return parseCheckFile(text, 'f.yaml').then(
    () => true,
    () => false,
  );
}

/** Every example of the documents that is a check file, or the checks of one. */
async function examples(): Promise<readonly string[]> {
  const blocks = DOCUMENTS.flatMap((path) =>
    [...readDocument(path).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) =>
      text.startsWith('- ') ? `checks:\n${text}` : text,
    ),
  );
  const valid = await Promise.all(blocks.map(isValid));
  return blocks.filter((_, index) => valid[index]);
}

/** With many kinds of fields. */
const SAMPLE = {
  name: 'shop',
  variables: [{ key: 'A', value: 'b', secret: true }],
  checks: [
    {
      id: 'home',
      checkType: 'URL',
      tags: ['web'],
      groupId: 'shop',
      frequency: 5,
      maxResponseTime: null,
      retryStrategy: { type: 'FIXED', baseBackoffSeconds: 5 },
      alertSettings: { reminders: { amount: 2 } },
      alertChannelSubscriptions: [
        { alertChannelId: 'ops', activated: true },
        { alertChannelName: 'ops@e.test', activated: false },
      ],
      request: {
        url: 'https://e.test/',
        assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
      },
    },
    {
      id: 'orders',
      checkType: 'API',
      request: {
        url: 'https://e.test/orders',
        headers: [{ key: 'accept', value: '*/*' }],
        basicAuth: { username: 'a', password: 'b' },
      },
    },
    { id: 'port', checkType: 'TCP', request: { hostname: 'e.test', port: 25 } },
    { id: 'name', checkType: 'DNS', request: { query: 'e.test', recordType: 'MX' } },
    { id: 'ping', checkType: 'ICMP', request: { hostname: 'e.test', pingCount: 3 } },
  ],
  alertChannels: [{ id: 'ops', type: 'EMAIL', config: { address: 'ops@e.test' } }],
  groups: [{ id: 'shop', concurrency: 2 }],
  heartbeats: [
    {
      id: 'backup',
      heartbeat: { period: 1, periodUnit: 'DAYS', grace: 2, graceUnit: 'HOURS' },
    },
  ],
  statusServices: [{ id: 'web', checkIds: ['home'], heartbeatIds: ['backup'] }],
  statusPages: [
    {
      id: 'main',
      url: 'acme',
      customDomain: 'Status.E.test',
      cards: [{ name: 'All', services: ['web'] }],
    },
  ],
  maintenanceWindows: [
    { id: 'night', startsAt: '2026-01-01', endsAt: '2026-01-02', repeatUnit: 'DAY' },
  ],
};

/** The paths of all values in it, except itself. */
function pathsIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  const own = path.length === 0 ? [] : [[...path]];
  if (typeof value !== 'object' || value === null) return own;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [...own, ...keys.flatMap((key) => pathsIn(Reflect.get(value, key), [...path, key]))];
}

function changed(
  path: readonly (string | number)[],
  change: (parent: object, key: string) => void,
) {
  const copy: unknown = structuredClone(SAMPLE);
  const parent = path.slice(0, -1).reduce((at, key) => Reflect.get(at as object, key), copy);
  change(parent as object, String(path.at(-1)));
  return copy;
}

describe('the JSON Schema of check files', () => {
  it('accepts the sample, the examples of the documents and imported files', async () => {
    const imported = ['blackbox', 'gatus', 'uptime-kuma'].map((name) =>
      readFileSync(importSource(`${name}.expected.yaml`), 'utf8'),
    );
    const found = await examples();
    expect(found.length).toBeGreaterThan(5);
    const sample = readFileSync(join(ROOT, 'vedette.yaml'), 'utf8');
    const refused = [sample, ...imported, ...found].filter((text) => !accepts(parse(text)));
    expect(refused).toEqual([]);
  });

  it('refuses nothing that vedette validate accepts, whatever value a field has', async () => {
    expect(accepts(SAMPLE), JSON.stringify(accepts.errors)).toBe(true);
    const others = [null, 7, 'x', [], {}, undefined];
    const stricter: string[] = [];
    let refused = 0;
    for (const path of pathsIn(SAMPLE)) {
      for (const other of others) {
        const file = changed(path, (parent, key) => {
          if (other === undefined) Reflect.deleteProperty(parent, key);
          else Reflect.set(parent, key, other);
        });
        const text = JSON.stringify(file);
        if (accepts(JSON.parse(text))) continue;
        refused += 1;
        // A file without defaults: the plain parser reads every valid one, and builds no messages.
        if ((await parsePlainCheckFile(text, 'f.json')) === null) continue;
        stricter.push(`${path.join('.')}: ${JSON.stringify(other)}`);
      }
    }
    expect(stricter).toEqual([]);
    expect(refused).toBeGreaterThan(200);
  });

  it('refuses an unknown key in every mapping', () => {
    const mappings = [[], ...pathsIn(SAMPLE)].filter((path) => {
      const value = path.reduce((at: unknown, key) => Reflect.get(at as object, key), SAMPLE);
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    });
    expect(mappings.length).toBeGreaterThan(20);
    const accepted = mappings.filter((path) =>
      accepts(changed([...path, 'unheard'], (parent, key) => Reflect.set(parent, key, 1))),
    );
    expect(accepted).toEqual([]);
  });

  it('accepts a check that lacks needed fields only if the file has defaults', () => {
    const checks = [{ id: 'a', checkType: 'URL', request: {} }];
    expect(accepts({ checks })).toBe(false);
    expect(accepts({ checks: [{ id: 'a', checkType: 'URL' }] })).toBe(false);
    expect(accepts({ checks, defaults: { request: { url: 'https://e.test/' } } })).toBe(true);
    const retryStrategy = { maxRetries: 2 };
    const retried = [
      { id: 'a', checkType: 'URL', retryStrategy, request: { url: 'https://e.test' } },
    ];
    expect(accepts({ checks: retried })).toBe(false);
    expect(accepts({ checks: retried, defaults: { retryStrategy: { type: 'FIXED' } } })).toBe(true);
  });

  it('names the ids that only a service refuses, and accepts them', async () => {
    const definitions = Object(schema.definitions);
    const noted = Object.keys(definitions).filter((name) =>
      definitions[name].properties.id.description.includes(
        'url, api, tcp, dns, icmp, heartbeat or heartbeats',
      ),
    );
    expect(new Set(noted)).toEqual(
      new Set(['check-API', 'check-DNS', 'check-ICMP', 'check-TCP', 'check-URL', 'heartbeats']),
    );
    const file = changed(['checks', 0, 'id'], (check) => Reflect.set(check, 'id', 'url'));
    const { statusServices: _, statusPages: __, ...kept } = Object(file);
    expect(accepts(kept), JSON.stringify(accepts.errors)).toBe(true);
    expect(await isValid(JSON.stringify(kept))).toBe(true);
  });

  it('accepts a JSON file that names it in $schema', async () => {
    const file = { $schema: 'https://v.example/schemas/check-file.json', ...SAMPLE };
    expect(accepts(file)).toBe(true);
    expect(await isValid(JSON.stringify(file))).toBe(true);
  });

  it.each([[[]], [['request']]])('has exactly the defaults at %j that files may have', (path) => {
    const { properties = {} } = schema;
    const at = path.reduce(
      (form: unknown, key) => Reflect.get(Reflect.get(form as object, 'properties'), key),
      properties.defaults as unknown,
    );
    const keys = Object.keys(Reflect.get(at as object, 'properties'));
    // logicalId is derived from the name of the file and the id: an error in every check.
    const known = knownDefaults(path).filter((key) => key !== 'logicalId');
    expect(new Set(keys)).toEqual(new Set(known));
  });
});
