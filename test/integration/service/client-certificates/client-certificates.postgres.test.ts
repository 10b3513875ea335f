import { createPrivateKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { createAuthority, type Identity } from '../../../support/servers/certificates.ts';
import {
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/client-certificates';

/** Client certificates through the API, and as agents get them. */
describe.each(databases)('on %s', (kind) => {
  describe('client certificates', () => {
    const service = useAccounts(useRunningService(kind));
    let ca = '';
    let own: Identity = { cert: '', key: '' };
    let other: Identity = { cert: '', key: '' };
    beforeAll(async () => {
      const authority = await createAuthority();
      ca = authority.cert;
      own = await authority.issue({ commonName: 'agent' });
      other = await authority.issue({ commonName: 'other' });
    });
    const forAgents = async () => {
      const { features, store, mine } = service();
      return features.clientCertificates.forAgents(store, mine.accountId);
    };

    it('are given back without their keys, which agents get (trust model AC12)', async () => {
      const { mine, theirs, store, clock } = service();
      const created = await mine.post(PATH, { host: '*.shop.example', ...own, ca });
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.any(String),
        host: '*.shop.example',
        cert: own.cert,
        ca,
        created_at: new Date(clock.wallMs()).toISOString(),
        updated_at: null,
      });
      const at = `${PATH}/${created.json.id}`;
      expect((await mine.get(at)).json).toEqual(created.json);
      expect((await mine.get(PATH)).json).toEqual([created.json]);
      expect((await theirs.get(at)).status).toBe(404);
      expect(await forAgents()).toEqual([{ host: '*.shop.example', ...own, ca, passphrase: null }]);
      const rows = await store.query(
        'select client_certificates::text as text from client_certificates',
      );
      const line = own.key.split('\n')[1] ?? '';
      expect(line.length).toBeGreaterThan(40);
      expect(JSON.stringify(rows)).not.toContain(line);
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(line).toString('hex'));
    });

    it('keep their key through an update, and take a new one with its certificate', async () => {
      const { mine } = service();
      const { json } = await mine.post(PATH, { host: 'a.example', ...own });
      expect(json.ca).toBeNull();
      const at = `${PATH}/${json.id}`;
      const moved = await mine.patch(at, { ...json, host: 'b.example' });
      expect(moved.json.host).toBe('b.example');
      expect(await forAgents()).toMatchObject([{ host: 'b.example', key: own.key }]);
      const half = await mine.patch(at, { cert: other.cert });
      expect(problemsIn(half)).toEqual([
        'body.key must be the private key of the first certificate in cert',
      ]);
      const passphrase = 'open sesame';
      const key = createPrivateKey(other.key)
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
        .toString();
      expect((await mine.patch(at, { cert: other.cert, key, passphrase })).status).toBe(200);
      expect(await forAgents()).toMatchObject([{ cert: other.cert, key, passphrase }]);
      expect((await mine.delete(at)).status).toBe(204);
      expect(await forAgents()).toEqual([]);
    });

    it('of an IPv6 address have it in its shortest form, and are one for it', async () => {
      const { mine } = service();
      const { json } = await mine.post(PATH, { host: '[2001:DB8:0::1]', ...own });
      expect(json.host).toBe('2001:db8::1');
      expect((await mine.post(PATH, { host: '2001:db8:0:0::1', ...own })).status).toBe(409);
      expect(await forAgents()).toMatchObject([{ host: '2001:db8::1' }]);
    });

    it('that no agent could use are refused', async () => {
      const { mine } = service();
      const good = { host: 'a.example', ...own };
      const problemsOf = async (fields: object) =>
        problemsIn(await mine.post(PATH, { ...good, ...fields })).join('\n');
      expect(await problemsOf({ host: 'https://a.example' })).toContain('body.host');
      expect(await problemsOf({ host: 'a.*.example' })).toContain('body.host');
      expect(await problemsOf({ host: '[::1]:443' })).toContain('without scheme, port and path');
      expect(await problemsOf({ host: '1::2::3' })).toContain('body.host');
      expect(await problemsOf({ host: '*.::1' })).toContain('body.host');
      expect(await problemsOf({ cert: 'PEM' })).toContain('body.cert must be 1 to 20 certificates');
      expect(await problemsOf({ ca: own.key })).toContain('body.ca must be');
      expect(await problemsOf({ key: own.cert })).toContain('body.key must be a private key');
      expect(await problemsOf({ key: other.key })).toContain('body.key must be the private key of');
      const key = createPrivateKey(own.key)
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a' })
        .toString();
      expect(await problemsOf({ key })).toContain('body.passphrase is missing');
      expect(await problemsOf({ key, passphrase: 'b' })).toContain(
        'body.passphrase does not decrypt',
      );
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it('hold no private key where it would be given back', async () => {
      const { mine } = service();
      const refused = await mine.post(PATH, {
        host: 'a.example',
        ...own,
        cert: own.cert + own.key,
        ca: `${ca}\n${other.key}`,
      });
      expect(problemsIn(refused)).toEqual([
        'body.cert must not contain a private key',
        'body.ca must not contain a private key',
      ]);
    });

    it('whose private key nobody can open any more take a new one, and harm no other', async () => {
      const { mine, store } = service();
      const { json: lost } = await mine.post(PATH, { host: 'a.example', ...own });
      await mine.post(PATH, { host: 'b.example', ...other });
      await store.query(
        `update client_certificates set sealed_key = set_byte(sealed_key, 1, 255 - get_byte(sealed_key, 1))
         where id = $1`,
        [lost.id],
      );
      expect(await forAgents()).toMatchObject([{ host: 'b.example' }]);
      const at = `${PATH}/${lost.id}`;
      expect((await mine.get(at)).json).toEqual(lost);
      const moved = await mine.patch(at, { host: 'c.example' });
      expect(moved.status).toBe(409);
      expect(moved.json.message).toContain(
        'its key is missing: add it after the other keys in ENC',
      );
      expect((await mine.patch(at, { key: own.key })).status).toBe(200);
      const hosts = new Set((await forAgents()).map(({ host }) => host));
      expect(hosts).toEqual(new Set(['a.example', 'b.example']));
    });

    it('take no more than an answer to a poll has room for', async () => {
      const { mine } = service();
      // Beside the certificates anything may stand, and each of these is six characters in JSON.
      const note = '\u0001'.repeat(60_000);
      const fields = { ...own, cert: `${note}\n${own.cert}` };
      const statuses = [];
      for (const n of [1, 2, 3, 4, 5, 6]) {
        statuses.push((await mine.post(PATH, { ...fields, host: `h${n}.example` })).status);
      }
      expect(statuses).toEqual([201, 201, 201, 201, 201, 409]);
      expect(Buffer.byteLength(JSON.stringify(await forAgents()))).toBeLessThan(2 * 1024 * 1024);
      const [first] = (await mine.get(PATH)).json;
      const larger = await mine.patch(`${PATH}/${first.id}`, { ca: `${note}\n${ca}` });
      expect(larger.json.attributes).toEqual({ limitBytes: 2 * 1024 * 1024 });
      expect((await mine.get(`${PATH}/${first.id}`)).json).toEqual(first);
    });

    it('are one for each host', async () => {
      const { mine, theirs } = service();
      const first = await mine.post(PATH, { host: 'a.example', ...own });
      const second = await mine.post(PATH, { host: 'a.example', ...other });
      expect([first.status, second.status]).toEqual([201, 409]);
      expect((await mine.post(PATH, { host: 'A.Example', ...other })).status).toBe(409);
      expect((await theirs.post(PATH, { host: 'a.example', ...other })).status).toBe(201);
      const { json } = await mine.post(PATH, { host: 'b.example', ...own });
      expect((await mine.patch(`${PATH}/${json.id}`, { host: 'a.example' })).status).toBe(409);
    });

    it('a change of them wakes the polls of every location', async () => {
      const { mine, store } = service();
      await mine.post('/v1/private-locations', { slug: 'cellar', name: 'Cellar' });
      const revisions = () =>
        store.query<{ settingsRevision: number }>(
          'select settings_revision from location_assignments where account_id = $1',
          [mine.accountId],
        );
      const before = (await revisions())[0]?.settingsRevision ?? 0;
      const { json } = await mine.post(PATH, { host: 'a.example', ...own });
      const made = (await revisions())[0]?.settingsRevision ?? 0;
      expect(made).toBeGreaterThan(before);
      await mine.delete(`${PATH}/${json.id}`);
      expect((await revisions())[0]?.settingsRevision).toBeGreaterThan(made);
    });
  });
});
