import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { ownIds } from '../../../support/hostile/path-parameters.ts';
import {
  type DocumentResponse,
  type OpenApiDocument,
  type Operation,
  operationsOf,
} from '../../../support/openapi/document.ts';
import { changedBy, exampleChanges } from '../../../support/openapi/example-changes.ts';
import { smallestBodies } from '../../../support/openapi/smallest-bodies.ts';
import { stableExamples } from '../../../support/openapi/stable-example.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { useHostileFixture } from '../../../support/service/hostile-fixture.ts';

const FILE = join(import.meta.dirname, '../../../../src/service/http/openapi/examples.json');
const JSON_TYPE = { 'content-type': 'application/json' };
/** Resources that other requests need come first. */
const FIRST = ['createPrivateLocation', 'createStatusPageService'];
/** Resources without a request that creates them, with the query that finds them. */
const READ: Readonly<Record<string, string>> = {
  getCheckResult: '',
  getCheckStatus: '',
  getAvailability: '',
  getUrlAnalytics: '?metrics=responseTime_avg,responseTime_p95,availability',
  getCheckRun: '',
  getCheckGroupRun: '',
  getCheckTrial: '',
  getErrorGroup: '',
  getRootCauseAnalysis: '',
  getApiKey: '',
  getEntitlements: '',
  listCheckAlerts: '?from=0&cursor=start',
  listEvents: '?cursor=start',
  listAlertDeliveries: '?cursor=start',
  listLocationAgents: '',
  listAuditLog: '',
  listHeartbeatEvents: '',
  getHeartbeatEvent: '',
  listMissedSlots: '?from=0&cursor=start',
  listStatusPageSubscribers: '',
};
const BULK = { action: 'mute', filter: { type: ['DNS'] } };
/** Operations that change something and have no example, with the reason. */
const WITHOUT_EXAMPLE: Readonly<Record<string, string>> = {
  'PUT /v1/password':
    'Only a user who is signed in can send it: the body has passwords, and the response has none.',
};
/** Lists in examples are shorter than this. */
const MAX_ENTRIES = 2;

function schemaAt(responses: Readonly<Record<string, DocumentResponse>>, status: number) {
  return responses[status]?.content?.['application/json']?.schema;
}

/** The name of the schema, or of the entries of a list; undefined if it has none. */
function nameOf(schema: unknown): string | undefined {
  return /schemas\/(\w+)"/.exec(JSON.stringify(schema ?? null))?.[1];
}

/** A body without a name has its example by the name of its operation. */
function bodyNameOf({ body, operationId }: Operation): string | undefined {
  return body === null ? undefined : (nameOf(body) ?? operationId);
}

function isChange({ method, path }: Operation): boolean {
  return path.startsWith('/v1/') && (method === 'PUT' || method === 'PATCH');
}

/** A run gave several alerts in one transaction, which have no order. */
function isOfFailure({ alertType }: { readonly alertType?: string }): boolean {
  return alertType === 'ALERT_FAILURE';
}

/** Without most entries of long lists, such as the days of a quarter. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}

describe('the examples of /openapi.json', () => {
  const fixtureOf = useHostileFixture('pglite');
  let document: OpenApiDocument;
  const examples: Record<string, unknown> = {};
  const failed: string[] = [];

  /** Creates something by every operation with the smallest body, reads it, and changes it. */
  beforeAll(async () => {
    const { send, newAttacker, settled } = fixtureOf();
    const account = await newAttacker();
    const { apiKey: key } = account;
    document = (await send({ method: 'GET', path: '/openapi.json', key: null })).json;
    const operations = operationsOf(document);
    const operationOf = (id: string) => {
      const found = operations.find(({ operationId }) => operationId === id);
      if (found === undefined) throw new Error(`there is no operation ${id}`);
      return found;
    };
    const { cert, key: privateKey } = await createSelfSigned();
    // A cause can be requested only for a failing check.
    const { url: checkId = '' } = account.checkIds;
    const parts = { slug: 'office', agentSlug: account.labSlug, checkId, serviceId: '' };
    const stable = stableExamples();
    const keep = (name: string | undefined, value: unknown): void => {
      if (name !== undefined)
        examples[name] ??= shortened(
          stable(
            JSON.parse(
              JSON.stringify(value)
                .replaceAll(checkId, 'homepage')
                .replaceAll(/mallory[-_]\d+/g, 'shop')
                .replaceAll('"name":"mallory"', '"name":"Homepage"')
                .replaceAll('mallory', 'shop'),
            ),
          ),
        );
    };
    const identity = { cert, key: privateKey };
    const bodies = () => smallestBodies({ ...parts, identity });
    for (const id of new Set([...FIRST, ...Object.keys(bodies()), 'createLocationKey'])) {
      const operation = operationOf(id);
      const given = bodies()[id];
      const ids = [...ownIds(operation.path, account)];
      const path = operation.path.replaceAll(/\{\w+\}/g, () => ids.shift() ?? '');
      const created = await send({
        method: 'POST',
        path: path.startsWith('/v1/checks') ? `${path}?autoAssignAlerts=false` : path,
        key,
        ...(given === undefined ? {} : { headers: JSON_TYPE, body: JSON.stringify(given) }),
      });
      if (created.status >= 300) failed.push(`${id}: ${created.status} ${created.text}`);
      if (created.status === 201 && !String(created.headers.location).startsWith(`${path}/`)) {
        failed.push(`${id}: its Location is ${created.headers.location}`);
      }
      if (given !== undefined) keep(nameOf(operation.body), given);
      keep(nameOf(schemaAt(operation.responses, created.status)), created.json);
      if (id === 'createStatusPageService') parts.serviceId = created.json.id;
    }
    // The analysis that was asked for is complete.
    await settled();
    for (const [id, query] of Object.entries(READ)) {
      const { path, responses } = operationOf(id);
      const ids = [...ownIds(path, account)];
      const filled = path.replaceAll(/\{\w+\}/g, () => ids.shift() ?? '');
      const { status, text, json } = await send({ method: 'GET', path: `${filled}${query}`, key });
      const shown = Array.isArray(json) ? (json.find(isOfFailure) ?? json[0]) : json;
      if (status === 200 && shown !== undefined) keep(nameOf(schemaAt(responses, 200)), shown);
      else failed.push(`${id}: ${status} ${text}`);
    }
    const { path: bulkPath, body, responses } = operationOf('bulkChangeChecks');
    const bulk = await send({
      method: 'POST',
      path: bulkPath,
      key,
      headers: JSON_TYPE,
      body: JSON.stringify(BULK),
    });
    keep(nameOf(body), BULK);
    keep(nameOf(schemaAt(responses, bulk.status)), bulk.json);
    const changes = exampleChanges(identity);
    for (const operation of operations.filter(isChange)) {
      const { method, name, operationId = '' } = operation;
      const change = changes[changedBy(operationId)];
      // A test below names operations without an example.
      if (change === undefined) continue;
      const ids = [...ownIds(operation.path, account)];
      const changed = await send({
        method,
        path: operation.path.replaceAll(/\{\w+\}/g, () => ids.shift() ?? ''),
        key,
        headers: JSON_TYPE,
        body: JSON.stringify(change),
      });
      if (changed.status !== 200) failed.push(`${name}: ${changed.status} ${changed.text}`);
      keep(bodyNameOf(operation), change);
      keep(nameOf(schemaAt(operation.responses, changed.status)), changed.json);
    }
    if (process.env.UPDATE_DOCS === '1') {
      const sorted = Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1));
      writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
    }
  });

  it('are bodies that the service accepts, and its responses to them', () => {
    expect(failed).toEqual([]);
    const kept = JSON.parse(readFileSync(FILE, 'utf8'));
    expect(kept, '`npm run examples` writes the current ones').toEqual(examples);
  });

  it('are as their schemas say, and contain no secret', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema(document as object, 'document');
    const pointerTo = (name: string): string => {
      const inline = operationsOf(document).find(({ operationId }) => operationId === name);
      if (inline === undefined) return `components/schemas/${name}`;
      const path = encodeURIComponent(inline.path.replaceAll('/', '~1'));
      return `paths/${path}/${inline.method.toLowerCase()}/requestBody/content/application~1json/schema`;
    };
    const wrong = Object.entries(examples).flatMap(([name, example]) => {
      const validate = ajv.compile({ $ref: `document#/${pointerTo(name)}` });
      return validate(example) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`];
    });
    expect(wrong).toEqual([]);
    expect(JSON.stringify(examples)).not.toMatch(/(vk|pl)_(?!0+\b)[0-9a-f]{4}|zz_secret/);
  });

  it('are in the schemas of bodies and responses', () => {
    const { UrlCheck, UrlCheckInput } = document.components.schemas;
    for (const schema of [UrlCheck, UrlCheckInput]) {
      expect(schema).toMatchObject({ examples: [{ name: 'Homepage' }] });
    }
    const inline = Object.keys(examples).filter((name) => !(name in document.components.schemas));
    expect(new Set(inline), 'the bodies that have no name').toEqual(
      new Set(['putCheck', 'updateCheck']),
    );
  });

  it('exist for the body and the response of every PUT and PATCH', () => {
    const changing = operationsOf(document).filter(isChange);
    expect(changing.length).toBeGreaterThan(45);
    const missing = changing
      .filter((operation) => {
        const names = [bodyNameOf(operation), nameOf(schemaAt(operation.responses, 200))];
        return names.some((name) => name === undefined || !(name in examples));
      })
      .map(({ name }) => name);
    expect(missing, 'add a body to example-changes.ts').toEqual(Object.keys(WITHOUT_EXAMPLE));
  });
});
