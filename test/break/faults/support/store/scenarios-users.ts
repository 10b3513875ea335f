import type { Scenario } from './cases.ts';

const PASSWORD = 'a password of the tests';

/** Invitations, members, and sign-ins by password. */
export const usersScenario: Scenario = {
  name: 'a user is invited, joins, signs in, is changed and removed',
  async prepare(fixture) {
    const { accountId, ask, done, insist, service } = fixture;
    const email = `user@${accountId}.test`;
    // The attempts of all cases come from one address.
    await service.store.query('delete from sign_in_failures');
    await service.store.query('delete from users where email = $1', [email]);
    const post = (path: string, body: unknown) => insist({ method: 'POST', path, key: null, body });
    return async () => {
      const other = { email: `other.${email}`, role: 'read' };
      await done(201, 'POST', '/v1/invitations', other);
      const [open] = await done(200, 'GET', '/v1/invitations');
      await ask('DELETE', `/v1/invitations/${open.id}`);
      const { url } = await done(201, 'POST', '/v1/invitations', { email, role: 'admin' });
      const token = String(url).split('/').at(-1);
      // Without an answer to the first try, the link was used.
      const joined = await post('/v1/invitations/accept', { token, password: PASSWORD });
      if (![204, 404].includes(joined.status)) throw new Error(`joining: ${joined.text}`);
      const signedIn = await post('/v1/session', { email, password: PASSWORD });
      if (signedIn.status !== 204) throw new Error(`signing in: ${signedIn.text}`);
      const [user] = await done(200, 'GET', '/v1/users');
      await done(200, 'PATCH', `/v1/users/${user.id}`, { role: 'write' });
      const { role } = await done(200, 'GET', `/v1/users/${user.id}`);
      await ask('DELETE', `/v1/users/${user.id}`);
      await done(200, 'GET', '/v1/audit-log');
      const users = await done(200, 'GET', '/v1/users');
      return { seen: [`was ${role}, ${users.length} users`] };
    };
  },
};
