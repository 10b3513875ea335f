import type { Role } from '../../../src/model/enums.ts';
import type { Answer, Sent } from './request-sender.ts';

export const PASSWORD = 'a password of the tests';

/** The headers of a request that a page of the service makes, with the cookie of a session. */
export function asPage(cookie: string): Readonly<Record<string, string>> {
  return { cookie, 'sec-fetch-site': 'same-origin' };
}

/** A user who joins the account of the key by an invitation, and is signed in. */
export async function makeUser(parts: {
  readonly send: (sent: Sent) => Promise<Answer>;
  /** An admin's. */
  readonly key: string;
  readonly email: string;
  readonly role: Role;
}): Promise<{ readonly id: string; readonly sessionId: string; readonly cookie: string }> {
  const { send, key, email, role } = parts;
  const headers = { 'content-type': 'application/json' };
  const post = (path: string, by: string | null, body: object) =>
    send({ method: 'POST', path, key: by, headers, body: JSON.stringify(body) });
  const invited = await post('/v1/invitations', key, { email, role });
  const token = String(invited.json.url).split('/').at(-1);
  const joined = await post('/v1/invitations/accept', null, { token, password: PASSWORD });
  const [cookie = ''] = String(joined.headers['set-cookie']).split(';');
  const get = (path: string) => send({ method: 'GET', path, key: null, headers: asPage(cookie) });
  const { json } = await get('/v1/session');
  const [session] = (await get('/v1/sessions')).json;
  return { id: json.user.id, sessionId: session.id, cookie };
}
