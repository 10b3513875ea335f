import { describe, expect, it } from 'vitest';
import { expectedImport, imported, importedSources } from '../../../../support/import-sources.ts';

describe('a configuration of Gatus', () => {
  it('becomes checks, groups and heartbeats', () => {
    expect(importedSources('gatus.yaml').value).toEqual(expectedImport('gatus'));
  });

  it('leaves a line for each thing that did not carry over', () => {
    const { lines, leftOut } = importedSources('gatus.yaml');
    const alerts =
      'left out: alerts are settings of the service; add alertChannels to the file, and alertSettings to its checks';
    expect(lines).toEqual([
      `gatus.yaml:1: alerting: ${alerts}`,
      'gatus.yaml:7: usual: note: Gatus does not read the field, and neither does the import',
      `gatus.yaml:30: endpoints[0].alerts: ${alerts}`,
      'gatus.yaml:29: endpoints[0].conditions[6]: left out: assertions compare with fixed values only; write an assertion by hand',
      'gatus.yaml:39: endpoints[2]: changed: the time limit is 5 s instead of 10 s, the longest of DNS checks',
      'gatus.yaml:47: endpoints[3]: changed: the time limit is 5 s instead of 10 s, the longest of TCP checks',
      'gatus.yaml:52: endpoints[4]: changed: runs every 60 s instead of every 10 s, the nearest period of ICMP checks of every service; in a file without a service, or with ALLOW_SUBMINUTE=on of the service, set frequency: 0 and frequencyOffset: 10',
      'gatus.yaml:57: endpoints[5]: left out: no type of check signs in over SSH; a TCP check sees that the port is open',
      'gatus.yaml:66: external-endpoints[0]: changed: it is a heartbeat, which only a service has: run vedette apply, and let the job ping the address that the service shows for backup',
    ]);
    expect(leftOut).toBe(4);
  });

  it('gets ids that checks can have where endpoints are called like paths of the API', () => {
    const endpoint = (name: string): string =>
      `{ name: ${name}, group: api, url: "https://a.example/", conditions: ["[STATUS] == 200"] }`;
    const endpoints = ['API', 'api-check', 'dns'].map(endpoint).join(', ');
    const { value } = imported({ 'gatus.yaml': `endpoints: [${endpoints}]` });
    expect(value).toMatchObject({
      groups: [{ id: 'api' }],
      checks: [{ id: 'api-api' }, { id: 'api-api-check' }, { id: 'api-dns' }],
    });
    const bare = `endpoints: [${endpoints.replaceAll('group: api, ', '')}]`;
    expect(imported({ 'gatus.yaml': bare }).value).toMatchObject({
      checks: [{ id: 'api-check' }, { id: 'api-check-2' }, { id: 'dns-check' }],
    });
  });

  it('may be several files, of which some have settings only', () => {
    const { value, lines } = imported({
      'global.yaml':
        'metrics: true\nalerting: { slack: { webhook-url: "https://chat.example" } }\n',
      'shop.yaml': `endpoints:
  - { name: shop, group: web, url: "https://shop.example/", conditions: ["[STATUS] == 200"] }
`,
      'cart.yaml': `endpoints:
  - { name: cart, group: web, url: "https://cart.example/", conditions: ["[STATUS] == 200"] }
`,
    });
    expect(value).toMatchObject({
      groups: [{ id: 'web' }],
      checks: [
        { id: 'web-shop', groupId: 'web' },
        { id: 'web-cart', groupId: 'web' },
      ],
    });
    expect(lines).toEqual([expect.stringMatching(/^global\.yaml:2: alerting: left out/)]);
  });

  it('with a condition on the certificate of an http:// URL says that it takes TLS', () => {
    const { lines } = imported({
      'gatus.yaml': `endpoints:
  - { name: shop, url: "http://shop.example/", client: { ignore-redirect: true }, conditions: ["[STATUS] == 200", "[CERTIFICATE_EXPIRATION] > 48h"] }
`,
    });
    expect(lines).toEqual([
      expect.stringMatching(/; let the check connect over TLS, for example to an https:\/\/ URL$/),
    ]);
  });

  it('names the variables to set, and contains no secret', () => {
    const { text, lines, variables } = importedSources('gatus.yaml');
    expect(variables.map(({ name }) => name)).toEqual(['SHOP_HOST', 'CART_AUTHORIZATION']);
    expect(text + lines.join('\n')).not.toContain('s3cret');
  });

  it('with a password does not name it like a variable that another endpoint sends', () => {
    const { value, variables, lines } = imported({
      'gatus.yaml': `endpoints:
  - name: shop
    url: https://probe:s3cret@shop.example/
    conditions: ["[STATUS] == 200"]
  - name: other
    url: https://other.example/
    headers:
      X-Api-Key: $SHOP_PASSWORD
      X-Note: "{{SHOP_PASSWORD_2}}"
    conditions: ["[STATUS] == 200"]
`,
    });
    expect(value).toMatchObject({
      checks: [
        { request: { url: 'https://probe:{{SHOP_PASSWORD_3}}@shop.example/' } },
        {
          request: {
            headers: [
              { key: 'X-Api-Key', value: '{{SHOP_PASSWORD}}' },
              { key: 'X-Note', value: '{{SHOP_PASSWORD_2}}' },
            ],
          },
        },
      ],
    });
    expect(variables.map(({ name }) => name)).toEqual(['SHOP_PASSWORD_3', 'SHOP_PASSWORD']);
    expect(lines.join('\n')).toContain('{{SHOP_PASSWORD_2}} in it is read as a variable');
  });

  it('with a name that would end a comment or steer a terminal stays terminalSafe', () => {
    const { text, value } = imported({
      'gatus.yaml': `endpoints:
  - name: "a\\nchecks: []\\e[2J"
    url: https://shop.example/
    conditions: ["[STATUS] == 200"]
`,
    });
    expect(value).toMatchObject({ checks: [{ id: 'a-checks-2j', checkType: 'URL' }] });
    expect(text).not.toContain('\u001b');
  });
});
