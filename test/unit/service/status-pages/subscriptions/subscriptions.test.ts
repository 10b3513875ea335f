import { describe, expect, it } from 'vitest';
import { notSent } from '../../../../../src/service/outgoing/send-outcome.ts';
import {
  maskedAddress,
  throttleAddressOf,
  webhookUrlOf,
} from '../../../../../src/service/status-pages/subscriptions/address.ts';
import {
  alreadySubscribedMail,
  confirmationMail,
  updateMail,
} from '../../../../../src/service/status-pages/subscriptions/messages/message-content.ts';
import { outcomeOfMessage } from '../../../../../src/service/status-pages/subscriptions/messages/message-outcome.ts';
import { baseOfMessage } from '../../../../../src/service/status-pages/subscriptions/messages/message-sender.ts';
import { publicAddresses } from '../../../../../src/service/status-pages/subscriptions/public-addresses.ts';

describe('the addresses of subscribers', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
  ])('are not %s', (address) => {
    expect(publicAddresses([]).deniedBy(address)).not.toBeNull();
  });

  it.each(['8.8.8.8', '100.63.255.255', '172.32.0.1', '2a00:1450::1', '64:ff9b::808:808'])(
    'may be %s, unless DELIVERY_DENY denies it',
    (address) => {
      expect(publicAddresses([]).deniedBy(address)).toBeNull();
      const prefixBits = address.includes(':') ? 128 : 32;
      const denied = publicAddresses([{ text: address, address, prefixBits }]);
      expect(denied.deniedBy(address)).not.toBeNull();
    },
  );

  it('are URLs without user, on the ports of HTTP or free ones', () => {
    expect(webhookUrlOf(' HTTPS://Example.com/a?b#c ')).toBe('https://example.com/a?b');
    expect(webhookUrlOf('http://example.com:8080/')).toBe('http://example.com:8080/');
    const wrong = [
      'example.com',
      'ftp://example.com/',
      'javascript:alert(1)',
      'http://user@example.com/',
      'http://:p@example.com/',
      'http://example.com:25/',
      'http://',
      `http://example.com/${'a'.repeat(2048)}`,
    ];
    for (const url of wrong) expect(webhookUrlOf(url)).toBeNull();
  });

  it('are counted by mailbox or host, and shown shortened', () => {
    expect(throttleAddressOf('email', 'Ann+tag+x@Example.com')).toBe('ann@example.com');
    expect(throttleAddressOf('email', 'ann.lee+x@example.com')).toBe('ann.lee@example.com');
    for (const alias of ['a.nn.lee@gmail.com', 'Annlee+shop@GoogleMail.com']) {
      expect(throttleAddressOf('email', alias)).toBe('annlee@gmail.com');
    }
    for (const url of ['https://a.test:8443/b', 'https://A.test./b']) {
      expect(throttleAddressOf('webhook', url)).toBe('a.test');
    }
    expect(maskedAddress('email', 'ann@example.com')).toBe('a…@example.com');
    expect(maskedAddress('webhook', 'https://a.test/secret?key=1')).toBe('https://a.test/…');
  });
});

describe('a message to a subscriber', () => {
  it('is retried with growing delays, the longest of which the receiver may extend', () => {
    const attempted = { sent: notSent('no answer'), cause: 'receiver' } as const;
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => {
      const at = { attempt, wasCut: false, atMs: 0 };
      const { state, dueAtMs } = outcomeOfMessage(attempted, at);
      return state === 'waiting' ? dueAtMs : state;
    });
    const minute = 60_000;
    expect(delays).toEqual([
      20_000,
      minute,
      5 * minute,
      15 * minute,
      60 * minute,
      180 * minute,
      'failed',
    ]);
    const asked = { ...notSent('busy'), retryAfterMs: 90_000 } as const;
    const at = { attempt: 1, wasCut: false, atMs: 0 };
    expect(outcomeOfMessage({ ...attempted, sent: asked }, at).dueAtMs).toBe(90_000);
    expect(outcomeOfMessage({ ...attempted, cause: 'bounce' }, at).state).toBe('failed');
    expect(outcomeOfMessage(attempted, { ...at, wasCut: true }).dueAtMs).toBe(0);
  });

  it('has links to where the page is now', () => {
    const pageUrl = 'new';
    const local = { base: 'http://localhost:1/status/old', pageUrl, customDomain: null };
    expect(baseOfMessage(local, null)).toBe('http://localhost:1/status/new');
    expect(baseOfMessage(local, 'https://a.test/up/')).toBe('https://a.test/up/status/new');
    const own = { base: 'https://status.test', pageUrl, customDomain: 'status.test' };
    expect(baseOfMessage(own, 'https://a.test')).toBe('https://status.test');
    const moved = { ...own, customDomain: 'other.test' };
    expect(baseOfMessage(moved, 'https://a.test')).toBe('https://a.test/status/new');
  });

  it.each([
    ['Acme Status', 'Acme Status'],
    ['Acme\r\nBcc: x@y.test', 'Acme Bcc: x y test'],
    ['Win now: https://evil.test/win?a=b', 'Win now: https evil test win?a=b'],
    ['WWW.evil.test and evil。test', 'WWW evil test and evil test'],
    ['ｅｖｉｌ．test', 'evil test'],
    ['Acme v2.0. Up', 'Acme v2.0. Up'],
    ['phish.7z and evil.1-test', 'phish 7z and evil 1-test'],
    ['Go to 203.0.113.7 now', 'Go to 203 0 113 7 now'],
    ['x'.repeat(255), `${'x'.repeat(60)}…`],
  ])('to an unconfirmed subscriber shows the page name %j as %j', (name, shown) => {
    const page = { name, base: 'https://a.test', token: 't' };
    expect(confirmationMail(page).subject).toBe(`Confirm your subscription to ${shown}`);
    expect(alreadySubscribedMail(page).subject).toBe(`You are subscribed to ${shown}`);
    expect(confirmationMail(page).text).toContain(`incidents on ${shown}.`);
  });

  it('has each link once: what it asks for is not repeated below', () => {
    const page = { name: 'Acme', base: 'https://a.test', token: 't' };
    const asked = 'https://a.test/subscriptions/t';
    for (const { text, html } of [confirmationMail(page), alreadySubscribedMail(page)]) {
      expect(text.match(/https:\S+/g)).toEqual([asked, `${asked}/unsubscribe`]);
      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      expect(hrefs).toEqual([asked, `${asked}/unsubscribe`]);
    }
  });

  it('says what the page says: status, impact, services and time, and where to read more', () => {
    const page = { name: 'Acme', base: 'https://a.test', token: 't' };
    const atMs = Date.parse('2026-11-24T21:27:00Z');
    const update = {
      incidentId: 'i',
      incidentName: 'Payments fail',
      severity: 'MAJOR',
      status: 'INVESTIGATING',
      description: 'We look into it.',
      publicAt: null,
      createdAt: new Date(atMs),
      startedAt: new Date(atMs),
      services: [
        { id: '1', name: 'Shop' },
        { id: '2', name: 'חיפוש' },
      ],
    };
    const { text, html } = updateMail(page, update);
    expect(text.split('\n').slice(0, 10)).toEqual([
      'Payments fail',
      '',
      'Status: Investigating',
      'Impact: Partial outage',
      'Services: Shop, חיפוש',
      'Time: 24 Nov 2026, 21:27 UTC',
      '',
      'We look into it.',
      '',
      'Read more: https://a.test/incidents/i',
    ]);
    expect(text).toContain('Change the subscription: https://a.test/subscriptions/t\n');
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<a href="https://a.test/subscriptions/t">Change the subscription</a>');
    expect(html).toContain('<p dir="auto">We look into it.</p>');
  });

  it('has a subject of one line of limited length, whatever the names', () => {
    const page = { name: 'A\r\nBcc: x@y.z', base: 'https://a.test', token: 't' };
    const update = {
      incidentId: 'i',
      incidentName: `\u202eB\n${'c'.repeat(1000)}`,
      severity: 'MAJOR',
      status: 'RESOLVED',
      description: 'Over.',
      publicAt: null,
      createdAt: new Date(0),
      startedAt: new Date(0),
      services: [],
    };
    const { subject } = updateMail(page, update);
    expect(subject).toMatch(/^\[A Bcc: x@y\.z\] Resolved: B c+…$/);
    expect(subject.length).toBeLessThanOrEqual(301);
  });
});
