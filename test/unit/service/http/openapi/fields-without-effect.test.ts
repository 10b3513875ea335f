import { expect, it } from 'vitest';
import { operationsOf } from '../../../../support/openapi/document.ts';
import { serviceDocument } from '../../../../support/openapi/service-document.ts';

const document = await serviceDocument();

/**
 * The fields of the specification that are stored, constant or absent here, and what the document of the
 * API says of each. All others have an effect.
 */
const WITHOUT_EFFECT: readonly (readonly [operation: string, field: string, says: string])[] = [
  ['PUT /v1/checks/url/{id}', 'locations', 'stored but not used, as no agent serves them'],
  ['PUT /v1/checks/url/{id}', 'runtimeId', 'Stored but not used'],
  ['POST /v1/check-groups', 'locations', 'stored but not used, as no agent serves them'],
  ['POST /v1/check-groups', 'runtimeId', 'Stored but not used'],
  [
    'GET /v1/check-results/{checkId}',
    'checkType',
    'There are none of AGENTIC, BROWSER, HEARTBEAT, MULTI_STEP',
  ],
  ['GET /v1/check-results/{checkId}', 'browserCheckResult', 'Always null: no BROWSER'],
  ['GET /v1/check-results/{checkId}', 'multiStepCheckResult', 'Always null: no MULTI_STEP'],
  ['GET /v1/check-results/{checkId}', 'agenticCheckResult', 'because no AGENTIC check runs here'],
  ['GET /v1/accounts/{accountId}/entitlements', 'available', 'No agent serves public locations'],
  ['GET /v1/accounts/{accountId}/entitlements', 'addons', 'They limit nothing'],
  ['GET /v1/accounts/{accountId}/entitlements', 'requiredAddon', 'because addons limit nothing'],
  [
    'GET /v1/test-session-error-groups/projects/{projectId}',
    'pwtMetadata',
    'Always null: test sessions here have no results of Playwright',
  ],
  ['GET /v1/snippets/{id}', 'script', 'There are no browser checks that could contain it'],
];

/** All that the document says of an operation, with the schemas that it refers to. */
function textOf(name: string): string {
  const operation = operationsOf(document).find((each) => each.name === name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  let text = JSON.stringify(operation);
  const schemas = new Set<string>();
  for (;;) {
    const named = [...text.matchAll(/#\/components\/schemas\/([\w.]+)/g)].map(
      ([, one]) => one ?? '',
    );
    const next = named.find((one) => !schemas.has(one));
    if (next === undefined) return text;
    schemas.add(next);
    text += JSON.stringify(document.components.schemas[next]);
  }
}

it.each(WITHOUT_EFFECT)('the document says of %s that %s has no effect', (name, field, says) => {
  const text = textOf(name);
  expect(text).toContain(field);
  expect(text).toContain(says);
});
