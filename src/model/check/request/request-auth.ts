import { z } from 'zod';
import { namesIn } from '../template.ts';

export const AUTH_TYPES = ['DIGEST', 'AWS_SIGV4', 'OAUTH2_CLIENT_CREDENTIALS'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];

const CLIENT_AUTHENTICATIONS = ['HEADER', 'BODY'] as const;

const text = z.string().max(2048);
const fields = {
  type: z.enum(AUTH_TYPES).describe('How requests are authenticated.'),
  username: text.optional().describe('The user name. DIGEST.'),
  password: text.optional().describe('The password, returned as ********. DIGEST.'),
  accessKeyId: text.optional().describe('The id of the access key. AWS_SIGV4.'),
  secretAccessKey: text
    .optional()
    .describe('The secret access key, returned as ********. AWS_SIGV4.'),
  sessionToken: z
    .string()
    .max(10_000)
    .optional()
    .describe('The token of temporary credentials, returned as ********. AWS_SIGV4, optional.'),
  region: text.optional().describe('The region, for example eu-central-1. AWS_SIGV4.'),
  service: text.optional().describe('The service, for example execute-api. AWS_SIGV4.'),
  tokenUrl: text
    .refine(isTokenUrl, 'must be an http or https URL without a user name')
    .optional()
    .describe('The token endpoint. OAUTH2_CLIENT_CREDENTIALS.'),
  clientId: text.optional().describe('The id of the client. OAUTH2_CLIENT_CREDENTIALS.'),
  clientSecret: text
    .optional()
    .describe('The secret of the client, returned as ********. OAUTH2_CLIENT_CREDENTIALS.'),
  scope: text
    .optional()
    .describe('Scopes, separated by spaces. OAUTH2_CLIENT_CREDENTIALS, optional.'),
  audience: text
    .optional()
    .describe('The parameter audience, if needed. OAUTH2_CLIENT_CREDENTIALS, optional.'),
  clientAuthentication: z
    .enum(CLIENT_AUTHENTICATIONS)
    .optional()
    .describe(
      'Whether id and secret go in the Authorization header (HEADER, the default) or in the body (BODY). OAUTH2_CLIENT_CREDENTIALS, optional.',
    ),
};
type AuthField = Exclude<keyof typeof fields, 'type'>;

/** The fields of each type; all others are refused. */
export const AUTH_FIELDS: Readonly<
  Record<
    AuthType,
    { readonly needed: readonly AuthField[]; readonly optional: readonly AuthField[] }
  >
> = {
  DIGEST: { needed: ['username', 'password'], optional: [] },
  AWS_SIGV4: {
    needed: ['accessKeyId', 'secretAccessKey', 'region', 'service'],
    optional: ['sessionToken'],
  },
  OAUTH2_CLIENT_CREDENTIALS: {
    needed: ['tokenUrl', 'clientId', 'clientSecret'],
    optional: ['scope', 'audience', 'clientAuthentication'],
  },
};

/** Responses show ******** in their place. */
export const SECRET_AUTH_FIELDS = [
  'password',
  'secretAccessKey',
  'sessionToken',
  'clientSecret',
] as const satisfies readonly AuthField[];

/** The fields of a token request; its endpoint receives no other values of the check. */
export const TOKEN_FIELDS: readonly string[] = [
  ...AUTH_FIELDS.OAUTH2_CLIENT_CREDENTIALS.needed,
  ...AUTH_FIELDS.OAUTH2_CLIENT_CREDENTIALS.optional,
];

const authObject = z.strictObject(fields).meta({ title: 'RequestAuth' });

export const requestAuthSchema = authObject.superRefine((auth, context) => {
  const { needed, optional } = AUTH_FIELDS[auth.type];
  for (const field of needed) {
    if ((auth[field] ?? '') !== '') continue;
    context.addIssue({ code: 'custom', path: [field], message: `is needed for ${auth.type}` });
  }
  for (const field of Object.keys(auth) as (AuthField | 'type')[]) {
    if (field === 'type' || (auth[field] ?? '') === '') continue;
    if (needed.includes(field) || optional.includes(field)) continue;
    context.addIssue({ code: 'custom', path: [field], message: `is not for ${auth.type}` });
  }
});
export type RequestAuth = z.infer<typeof requestAuthSchema>;

const { password, secretAccessKey, sessionToken, clientSecret } = fields;

function removable(secret: z.ZodOptional<z.ZodString>) {
  return secret
    .unwrap()
    .nullable()
    .optional()
    .describe(secret.description ?? '');
}

/** In an update, before stored secrets are filled in. */
export const changedAuthSchema = authObject
  .extend({
    password: removable(password),
    secretAccessKey: removable(secretAccessKey),
    sessionToken: removable(sessionToken),
    clientSecret: removable(clientSecret),
  })
  .meta({ title: 'RequestAuthChanges' });

/**
 * Templates can be any part of a URL, so only a URL without them is validated completely. A user
 * name is refused: it would be a credential that nothing masks.
 */
function isTokenUrl(url: string): boolean {
  if (url === '') return true;
  if (namesIn(url).length > 0) return !/^[^/]*\/\/[^/?#]*@/.test(url);
  if (!URL.canParse(url)) return false;
  const { protocol, username, password: secret } = new URL(url);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && secret === '';
}
