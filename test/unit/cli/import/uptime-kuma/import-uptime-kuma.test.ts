import { describe, expect, it } from 'vitest';
import { expectedImport, imported, importedSources } from '../../../../support/import-sources.ts';

const FILE = 'uptime-kuma.json';

describe('a backup of Uptime Kuma', () => {
  it('becomes checks, groups and heartbeats', () => {
    expect(importedSources(FILE).value).toEqual(expectedImport('uptime-kuma'));
  });

  it('leaves a line for each thing that did not carry over', () => {
    const { lines, leftOut } = importedSources(FILE);
    expect(lines).toEqual([
      `${FILE}:37: monitorList[1].proxyId: left out: checks have no proxy of their own; set proxyUrl of the private location`,
      `${FILE}:13: monitorList[1]: changed: runs every 60 s instead of every 90 s, the nearest period of API checks`,
      `${FILE}:13: monitorList[1]: changed: the time limit is 30 s instead of 48 s, the longest of API checks`,
      `${FILE}:47: monitorList[2].upsideDown: changed: with upsideDown, it passes on a status of 400 or more, and without a response`,
      `${FILE}:81: monitorList[6].dns_resolve_server: left out: a check asks one name server, and only the first is taken; copy the check for each of the others`,
      `${FILE}:87: monitorList[7]: changed: it is a heartbeat, which only a service has: run vedette apply, and let the job ping the address that the service shows for backup`,
      `${FILE}:96: monitorList[8]: left out: no type of check does what the type "mqtt" does; a TCP check can see that a port is open, and a script of your own can ping a heartbeat`,
      `${FILE}:3: notificationList: left out: 1 notification: their settings contain secrets, and belong to alert channels; add alertChannels to the file`,
      `${FILE}:11: monitorList: left out: expiryNotification of 1 monitor: alert channels notify of certificates; set sslExpiry of a channel`,
    ]);
    expect(leftOut).toBe(5);
  });

  it('accepts statuses on both sides of 400 by one assertion', () => {
    const monitor = { type: 'http', name: 'Shop', url: 'https://shop.example/', interval: 60 };
    const accepted_statuscodes = ['200-299', '404'];
    const { value, lines } = imported({
      [FILE]: JSON.stringify({
        monitorList: [{ ...monitor, id: 1, active: true, accepted_statuscodes }],
      }),
    });
    const assertions = [{ source: 'STATUS_CODE', comparison: 'ONE_OF', target: '200-299, 404' }];
    expect(value).toMatchObject({ checks: [{ id: 'shop', request: { assertions } }] });
    expect(lines.join()).not.toContain('accepted_statuscodes');
  });

  it.each([
    { type: 'keyword', keyword: 'sold out' },
    { type: 'json-query', jsonPath: 'stock', expectedValue: '0' },
    { type: 'json-query', jsonPath: '$sum(stock)', expectedValue: '0' },
  ])('makes no check of %j upside down, and says what to write instead', (monitor) => {
    const url = 'https://shop.example/';
    const { value, lines } = imported({
      [FILE]: JSON.stringify({
        monitorList: [{ ...monitor, id: 1, name: 'Shop', url, interval: 60, upsideDown: true }],
      }),
    });
    expect(value).toEqual({ name: 'imported' });
    expect(lines).toEqual([
      expect.stringMatching(
        /monitorList\[0\]: left out: it is upside down, and .*; write an API check with the opposite assertion/,
      ),
    ]);
  });

  it('carries over what later releases added, or says that it does not', () => {
    const https = { type: 'http', url: 'https://shop.example/', domainExpiryNotification: true };
    const port = { type: 'port', hostname: 'mail.example', expiryNotification: true };
    const { value, lines, text } = imported({
      [FILE]: JSON.stringify({
        monitorList: [
          { ...https, name: 'Token', authMethod: 'bearer', bearer_token: 's3cret-token' },
          {
            ...https,
            name: 'OAuth',
            authMethod: 'oauth2-cc',
            oauth_token_url: 'https://id.example/token',
            oauth_client_id: 'probe',
            oauth_client_secret: 's3cret-client',
            oauth_audience: 'shop',
            retryOnlyOnStatusCodeFailure: true,
          },
          { type: 'smtp', name: 'Mail', hostname: 'mail.example', port: 25 },
          { type: 'smtp', name: 'Mails', hostname: 'a', port: 587, smtpSecurity: 'starttls' },
          { ...port, name: 'Imaps', port: 993, smtpSecurity: 'secure', ignoreTls: true },
          { ...port, name: 'Pop', port: 110, smtpSecurity: 'starttls' },
          { ...port, name: 'Odd', port: 1234, smtpSecurity: 'starttls' },
          { ...port, name: 'Alert', port: 443, expectedTlsAlert: 'certificate_required' },
        ].map((monitor, id) => ({ interval: 60, active: true, ...monitor, id })),
      }),
    });
    const bearer = { key: 'Authorization', value: 'Bearer {{TOKEN_TOKEN}}' };
    expect(value).toMatchObject({
      checks: [
        { id: 'token', request: { headers: [bearer] } },
        { id: 'oauth', request: { auth: { audience: 'shop' } } },
        { id: 'mail', checkType: 'TCP', request: { steps: [{ expect: '^220[ -]' }] } },
        { id: 'mails', request: { tls: 'STARTTLS', startTlsProtocol: 'SMTP' } },
        { id: 'imaps', request: { tls: 'ON', skipSSL: true } },
        { id: 'pop', request: { tls: 'STARTTLS', startTlsProtocol: 'POP3' } },
      ],
    });
    expect(lines.filter((line) => line.includes('left out'))).toEqual([
      expect.stringContaining('retryOnlyOnStatusCodeFailure: left out: a check retries'),
      expect.stringContaining('the protocol that begins TLS with STARTTLS on port 1234'),
      expect.stringContaining('it expects an alert of TLS'),
      expect.stringContaining('domainExpiryNotification of 2 monitors'),
    ]);
    expect(text + lines.join('\n')).not.toContain('s3cret');
  });

  it('names the variables to set, and contains no secret', () => {
    const { text, lines, variables } = importedSources(FILE);
    expect(variables.map(({ name }) => name)).toEqual([
      'CART_PASSWORD',
      'CART_COOKIE',
      'CART_BODY',
      'CART_PASSWORD_2',
    ]);
    expect(text + lines.join('\n')).not.toContain('s3cret');
  });
});
