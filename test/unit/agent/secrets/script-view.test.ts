import { expect, it } from 'vitest';
import type { ScriptView } from '../../../../src/agent/secrets/script-view.ts';
import type { CheckOf } from '../../../../src/model/check/check.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { agentSecretsOf, operatorSecretsOf } from '../../../support/samples/secrets.ts';

const NONE: ReadonlyMap<string, string> = new Map();

function withHeader(view: ScriptView, value: string): CheckOf<'API'> {
  const check = view.shown as CheckOf<'API'>;
  const headers = [{ key: 'x-a', value, locked: false }];
  return { ...check, request: { ...check.request, headers } };
}

it('a script sees values, and a placeholder for a variable that is bound to targets', async () => {
  const agentSecrets = await operatorSecretsOf({ BOUND: 'b-value', FREE: 'f-value' }, [
    'BOUND@api.example',
  ]);
  const headers = [{ key: 'x-a', value: '{{FREE}} {{BOUND}} {{LATER}}' }];
  const check = checkOf('API', { request: { url: 'https://api.example/', headers } });
  const view = agentSecrets.viewForScripts(check);
  const [header] = (view.shown as CheckOf<'API'>).request.headers;
  expect(header?.value).toMatch(/^f-value vv\w+z vv\w+z$/);
  expect(view.placeholders.shown(header?.value ?? '')).toBe('f-value {{BOUND}} {{LATER}}');

  // A field that the script left unchanged is still a template, also for variables it has set.
  const same = withHeader(view, header?.value ?? '');
  const rendered = agentSecrets.renderScripted(
    view,
    same,
    new Map([
      ['LATER', 'l'],
      ['FREE', 'own'],
    ]),
  );
  expect(rendered).toMatchObject({
    ok: true,
    check: { request: { headers: [{ value: 'own b-value l' }] } },
  });
  expect(rendered.ok && rendered.own.whyNotTo([{ hostname: 'api.example', port: 443 }])).toBeNull();
  expect(
    rendered.ok && rendered.own.whyNotTo([{ hostname: 'other.example', port: 443 }]),
  ).toContain('The variable BOUND may not be sent to');
});

it('a script may put the placeholder of a bound variable anywhere', async () => {
  const agentSecrets = await operatorSecretsOf({ BOUND: 'b value' }, ['BOUND@api.example']);
  const view = agentSecrets.viewForScripts(
    checkOf('API', { request: { url: 'https://api.example/' } }),
  );
  const [, placeholder = ''] = view.variables.find(([name]) => name === 'BOUND') ?? [];
  const made = withHeader(view, `Bearer ${placeholder}`);
  const url = `https://api.example/?key=${encodeURIComponent(placeholder)}`;
  const check = { ...made, request: { ...made.request, url } };
  expect(agentSecrets.renderScripted(view, check, NONE)).toMatchObject({
    check: {
      request: {
        url: 'https://api.example/?key=b%20value',
        headers: [{ value: 'Bearer b value' }],
      },
    },
  });
});

it('a script may put the placeholder of a bound variable into a host, which is known then', async () => {
  const agentSecrets = await operatorSecretsOf({ BOUND: 'b-value' }, ['BOUND@api.example']);
  const view = agentSecrets.viewForScripts(
    checkOf('API', { request: { url: 'https://api.example/' } }),
  );
  const [, placeholder = ''] = view.variables.find(([name]) => name === 'BOUND') ?? [];
  const made = view.shown as CheckOf<'API'>;
  const inHost = { ...made, request: { ...made.request, url: `https://${placeholder}.example/` } };
  const rendered = agentSecrets.renderScripted(view, inHost, NONE);
  expect(rendered.ok && rendered.own.isInHost).toBe(true);
});

it('a host contains a variable without targets only if a script has put its value there', async () => {
  const values = { FREE: 'Free.Value', BOUND: 'b-value' };
  const agentSecrets = await operatorSecretsOf(values, ['BOUND@api.example']);
  const headers = [{ key: 'x-a', value: '{{BOUND}}' }];
  const check = checkOf('API', { request: { url: 'https://other.example/', headers } });
  const view = agentSecrets.viewForScripts(check);
  const ownAt = (url: string) => {
    const shown = view.shown as CheckOf<'API'>;
    const made = { ...shown, request: { ...shown.request, url } };
    const rendered = agentSecrets.renderScripted(view, made, NONE);
    if (!rendered.ok) throw new Error(rendered.failure.message);
    return rendered.own;
  };
  const refused = (url: string) => {
    const { hostname } = new URL(url);
    return ownAt(url).whyNotTo([{ hostname, port: 443 }]);
  };
  const plain = 'https://other.example/Free.Value';
  expect(ownAt(plain).names).toEqual(['BOUND', 'FREE']);
  expect(ownAt(plain).nameInHost).toBeNull();
  expect(refused(plain)).toContain('may not be sent to other.example:443: VARIABLE_TARGETS');
  const inHost = 'https://Free.Value.example/';
  expect(ownAt(inHost).nameInHost).toBe('FREE');
  expect(refused(inHost)).toContain('port 443 of a host whose name contains a variable');
});

it('templates and placeholders in what a target sent are not filled in', async () => {
  const agentSecrets = await agentSecretsOf({ key: 'SECRET', value: 's-value', secret: true });
  const view = agentSecrets.viewForScripts(checkOf('API'));
  const other = agentSecrets.viewForScripts(checkOf('API')).placeholders.of('SECRET');
  const text = `{{SECRET}} {{{SECRET}}} ${other}`;
  expect(agentSecrets.renderScripted(view, withHeader(view, text), NONE)).toMatchObject({
    check: { request: { headers: [{ value: text }] } },
  });
});

it('a name without a value is unknown after the scripts', async () => {
  const agentSecrets = await agentSecretsOf();
  const headers = [{ key: 'x-a', value: '{{LATER}}' }];
  const view = agentSecrets.viewForScripts(checkOf('API', { request: { headers } }));
  const made = { ...(view.shown as CheckOf<'API'>) };
  expect(agentSecrets.renderScripted(view, made, NONE)).toMatchObject({
    ok: false,
    failure: { code: 'VARIABLE_UNKNOWN' },
  });
});
