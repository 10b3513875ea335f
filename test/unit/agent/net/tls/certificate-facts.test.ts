import type { PeerCertificate } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  alternativeNames,
  certificateFacts,
  nameText,
} from '../../../../../src/agent/net/tls/certificate-facts.ts';
import { NOT_SCRUBBED } from '../../../../../src/agent/secrets/cut-scrubbed.ts';

const shownAt = (wallMs: number) => ({ wallMs, scrub: NOT_SCRUBBED });

describe('alternativeNames', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['DNS:a.test', ['a.test']],
    ['DNS:a.test, DNS:*.b.test, IP Address:192.0.2.1', ['a.test', '*.b.test', '192.0.2.1']],
    ['IP Address:2001:DB8:0:0:0:0:0:1, DNS:a.test', ['2001:DB8:0:0:0:0:0:1', 'a.test']],
    ['URI:https://a.test/x, email:b@c.test', ['URI:https://a.test/x', 'email:b@c.test']],
    // One name that looks like two (CVE-2021-44532).
    ['DNS:"a.test, DNS:b.test"', ['a.test, DNS:b.test']],
    ['DNS:"quote \\" in it", DNS:b.test', ['quote " in it', 'b.test']],
    ['DNS:"bad \\q escape", DNS:b.test', ['"bad \\q escape"', 'b.test']],
  ])('reads %j', (text, names) => {
    expect(alternativeNames(text)).toEqual(names);
  });
});

describe('nameText', () => {
  it('has the order of the certificate and all repeated parts', () => {
    const name = {
      C: 'DE',
      OU: ['one', 'two'],
      CN: 'a.test',
    } as unknown as PeerCertificate['subject'];
    expect(nameText(name)).toBe('C=DE, OU=one, OU=two, CN=a.test');
  });

  it('is empty for no name', () => {
    expect(nameText(undefined)).toBe('');
  });
});

describe('certificateFacts', () => {
  const certificate = {
    subject: { CN: 'a.test' },
    issuer: { CN: 'Root' },
    subjectaltname: 'DNS:a.test',
    valid_from: 'Jan  1 00:00:00 2026 GMT',
    valid_to: 'Jan 31 12:00:00 2026 GMT',
    serialNumber: '0A',
    fingerprint256: 'AB:CD',
  } as unknown as PeerCertificate;

  it.each([
    ['2026-01-30T12:00:00Z', 1],
    ['2026-01-30T12:00:01Z', 0],
    ['2026-01-31T12:00:00Z', 0],
    ['2026-01-31T12:00:01Z', -1],
  ])('counts at %s %i whole days', (now, days) => {
    const facts = certificateFacts(certificate, shownAt(Date.parse(now)));
    expect(facts.daysRemaining).toBe(days);
    expect(facts.validFrom).toBe('2026-01-01T00:00:00.000Z');
    expect(facts.validTo).toBe('2026-01-31T12:00:00.000Z');
  });

  it('limits the names and texts of a peer, and counts the rest', () => {
    const names = Array.from({ length: 150 }, (_, index) => `DNS:n${index}.test`).join(', ');
    const facts = certificateFacts(
      {
        ...certificate,
        subject: { ...certificate.subject, CN: 'x'.repeat(5000) },
        subjectaltname: names,
      },
      shownAt(0),
    );
    expect(facts.subjectAltNames).toHaveLength(101);
    expect(facts.subjectAltNames.at(-1)).toBe('… and 50 more');
    expect(facts.subject.length).toBe(1001);
  });

  it('leaves an invalid date unchanged', () => {
    const facts = certificateFacts({ ...certificate, valid_to: 'Bad time value' }, shownAt(0));
    expect(facts).toMatchObject({ validTo: 'Bad time value', daysRemaining: 0 });
  });
});
