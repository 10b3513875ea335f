import { listParser, network, type Parsed } from '../../runtime/config/parsers.ts';
import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { denyNetworks, type Network } from '../../runtime/net/address-guard.ts';
import { isLoopbackHost } from '../../runtime/net/loopback.ts';
import { NO_PROXIES, type Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { PROXY_VARIABLES, readProxies } from '../../runtime/net/proxy/proxy-variables.ts';
import { escapeFor } from './escape.ts';
import { type Allowed, allowedEntry } from './reachable-addresses.ts';
import { renderTemplate } from './template.ts';

/** A mail server and the sender of the mails. */
export interface Smtp {
  readonly host: string;
  readonly port: number;
  /** Whether the connection begins with TLS. */
  readonly secure: boolean;
  /** Whether STARTTLS must precede authentication and mail. */
  readonly requireTls: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  readonly from: { readonly name: string; readonly address: string };
}

/** A service that sends an SMS for each POST. */
export interface SmsGateway {
  readonly url: string;
  /** The Authorization header; null for none. */
  readonly authorization: string | null;
  readonly contentType: string;
  /** A template over NUMBER, MESSAGE and DELIVERY_ID. */
  readonly body: string;
}

export interface OutgoingConfig {
  /** null: notices to email channels fail. */
  readonly smtp: Smtp | null;
  /** null: notices to SMS channels fail. */
  readonly sms: SmsGateway | null;
  /** Networks that alert channels and pictures of status pages may not reach. */
  readonly deny: readonly Network[];
  /** Receivers that alert channels and pictures may reach nevertheless. */
  readonly allow: readonly Allowed[];
  /** For all requests of the service by HTTP. */
  readonly proxies: Proxies;
}

/** Without configuration, all channels but email and SMS work. */
export const NO_OUTGOING: OutgoingConfig = {
  smtp: null,
  sms: null,
  deny: [],
  allow: [],
  proxies: NO_PROXIES,
};

const MAX_NETWORKS = 1000;
/** Addresses at which clouds provide the credentials of a machine; no receiver of alerts has such an address. */
const OWN_MACHINE_DATA = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254'];
const LOOPBACK = ['127.0.0.0/8', '::1'];
/** Loopback addresses and private networks. */
const INTERNAL = [
  ...LOOPBACK,
  // RFC 1122 3.2.1.3, RFC 4291 2.5.2: they reach the machine itself.
  '0.0.0.0/8',
  '::',
  // RFC 1918 3, RFC 6598 7.
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  // RFC 4193 3.1, RFC 3879 4.
  'fc00::/7',
  'fec0::/10',
];
const ADDRESS = /^(?:([^<>"\r\n]*)<([^\s<>@"]+@[^\s<>@"]+)>|([^\s<>@"]+@[^\s<>@"]+))$/;
const CONTENT_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; *[\w-]+=[\w-]+)*$/;
const STANDARD_SMS_BODY = '{"to": {{json NUMBER}}, "message": {{json MESSAGE}} }';
const IMPLICIT_TLS_PORT = 465;
const SUBMISSION_PORT = 587;

type SmtpServer = Omit<Smtp, 'from'>;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

export const DELIVERY_VARIABLES = {
  smtpUrl: variable<SmtpServer | null>({
    name: 'SMTP_URL',
    default: null,
    whenUnset: null,
    meaning:
      'The mail server for alerts and for subscribers of status pages. smtps:// uses TLS from the start (port 465); smtp:// uses STARTTLS if the server offers it (port 587). With credentials, STARTTLS is required unless the server is on this machine. Unset: no email.',
    allowed:
      'a URL like smtps://user:password@mail.example.com:465, characters such as @ and / percent-encoded',
    secret: true,
    parse: smtpServer,
  }),
  smtpFrom: variable<Smtp['from'] | null>({
    name: 'SMTP_FROM',
    default: null,
    whenUnset: null,
    meaning: 'The sender of these emails; SMTP_URL needs it.',
    allowed: 'an address, for example Vedette <alerts@example.com>',
    secret: false,
    parse: sender,
  }),
  smsUrl: variable<string | null>({
    name: 'SMS_GATEWAY_URL',
    default: null,
    whenUnset: null,
    meaning: 'The URL that receives a POST for each SMS. Unset: no SMS.',
    allowed: 'an http or https URL',
    secret: true,
    parse: (text) =>
      /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text) && new URL(text).username === ''
        ? { ok: true, value: text }
        : { ok: false, culprit: text },
  }),
  smsAuthorization: variable<string | null>({
    name: 'SMS_GATEWAY_AUTHORIZATION',
    default: null,
    whenUnset: null,
    meaning: 'The Authorization header of that POST.',
    allowed: 'text of ASCII characters, for example Bearer and a token',
    secret: true,
    parse: matching(/^[\x20-\x7e]{1,4096}$/),
  }),
  smsContentType: variable<string>({
    name: 'SMS_GATEWAY_CONTENT_TYPE',
    default: 'application/json',
    whenUnset: 'application/json',
    meaning:
      'The content type of its body; application/x-www-form-urlencoded makes {{NUMBER}} and {{MESSAGE}} parts of a form.',
    allowed: 'a media type, for example application/json',
    secret: false,
    parse: matching(CONTENT_TYPE),
  }),
  smsBody: variable<string>({
    name: 'SMS_GATEWAY_BODY',
    default: STANDARD_SMS_BODY,
    whenUnset: STANDARD_SMS_BODY,
    meaning:
      'The body of that POST: a template (as for webhooks) with NUMBER, MESSAGE and DELIVERY_ID.',
    allowed: 'a template, for example To={{NUMBER}}&Body={{MESSAGE}}',
    secret: false,
    parse: (text) =>
      renderTemplate(text, { NUMBER: '+1', MESSAGE: 'm', DELIVERY_ID: 'd' }, escapeFor('')).ok
        ? { ok: true, value: text }
        : { ok: false, culprit: text },
  }),
  deny: variable<readonly Network[] | null>({
    name: 'DELIVERY_DENY',
    default: null,
    whenUnset: null,
    meaning: `Networks that alert channels and pictures of status pages may not reach. The address of the connection counts, including an IPv4 address embedded in an IPv6 one. Default: ${OWN_MACHINE_DATA.join(', ')}; and, unless the embedded database is used and HOST is a loopback address, loopback and private networks: ${INTERNAL.join(', ')}. A value replaces the default list.`,
    allowed: `a list of at most ${MAX_NETWORKS} networks or addresses, separated by commas or spaces, for example 10.0.0.0/8, 127.0.0.0/8, ::1`,
    secret: false,
    parse: listParser(network, MAX_NETWORKS),
  }),
  allow: variable<readonly Allowed[]>({
    name: 'DELIVERY_ALLOW',
    default: null,
    whenUnset: [],
    meaning:
      'Receivers that alert channels and pictures of status pages may reach although DELIVERY_DENY or its default denies them. An IPv4-mapped address (::ffff:10.1.2.3) is allowed by networks of IPv4, not by ::/0. A name may lead to any address; behind a proxy, the proxy looks it up. Webhooks of subscribers need public addresses all the same.',
    allowed: `a list of at most ${MAX_NETWORKS} networks, addresses and names (*.name for all names below it), separated by commas or spaces, for example 10.1.2.3, 10.20.0.0/16, hooks.example.internal, *.example.com`,
    secret: false,
    parse: listParser(allowedEntry, MAX_NETWORKS),
  }),
  httpsProxy: {
    ...PROXY_VARIABLES.httpsProxy,
    meaning:
      'The proxy for https requests of the service: alert channels, pictures, domain checks, the identity provider, the bucket, the model, and HEARTBEAT_URL. Mail and PostgreSQL use none. https_proxy takes precedence.',
  },
  httpProxy: {
    ...PROXY_VARIABLES.httpProxy,
    meaning: 'The proxy for http requests of the service. http_proxy takes precedence.',
  },
  noProxy: {
    ...PROXY_VARIABLES.noProxy,
    meaning: 'Hosts that the service reaches without a proxy. no_proxy takes precedence.',
  },
} as const;

/**
 * @throws VedetteError of kind `config` and code CONFIG_INVALID: an invalid value, or one that has no
 *   effect without another
 */
export function readOutgoingConfig(env: Environment): OutgoingConfig {
  const rows = DELIVERY_VARIABLES;
  const server = readVariable(env, rows.smtpUrl);
  const from = readVariable(env, rows.smtpFrom);
  if ((server === null) !== (from === null)) {
    const [there, missing] =
      server === null ? ['SMTP_FROM', 'SMTP_URL'] : ['SMTP_URL', 'SMTP_FROM'];
    throw invalid(`${there} is set and ${missing} is not: set both or neither`);
  }
  const url = readVariable(env, rows.smsUrl);
  const sms = {
    authorization: readVariable(env, rows.smsAuthorization),
    contentType: readVariable(env, rows.smsContentType),
    body: readVariable(env, rows.smsBody),
  };
  if (url === null) {
    const other = [rows.smsAuthorization, rows.smsContentType, rows.smsBody].find(
      ({ name }) => textOf(env, name) !== null,
    );
    if (other !== undefined) {
      throw invalid(
        `${other.name} is set and SMS_GATEWAY_URL is not: set SMS_GATEWAY_URL, or unset ${other.name}`,
      );
    }
  }
  return {
    smtp: server === null || from === null ? null : { ...server, from },
    sms: url === null ? null : { ...sms, url },
    deny: readVariable(env, rows.deny) ?? standardDeny(env),
    allow: readVariable(env, rows.allow),
    proxies: readProxies(env),
  };
}

/**
 * A service with the embedded database that only its own machine can reach belongs to one person,
 * whose receivers may be on that machine. Elsewhere accounts must not reach the service's network.
 */
function standardDeny(env: Environment): readonly Network[] {
  const host = textOf(env, 'HOST');
  const isLocal =
    textOf(env, 'DATABASE_URL') === null &&
    host !== null &&
    denyNetworks(networksOf(LOOPBACK)).deniedBy(host) !== null;
  return networksOf([...OWN_MACHINE_DATA, ...(isLocal ? [] : INTERNAL)]);
}

function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.flatMap((text) => {
    const parsed = network(text);
    return parsed.ok ? [parsed.value] : [];
  });
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}

function matching(form: RegExp): (text: string) => Parsed<string> {
  return (text) => (form.test(text) ? { ok: true, value: text } : { ok: false, culprit: text });
}

function smtpServer(text: string): Parsed<SmtpServer> {
  const refused = { ok: false, culprit: text } as const;
  if (!/^smtps?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return refused;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const rest = `${pathname}${search}${hash}`;
  const hasHalf = (username === '') !== (password === '');
  if (hostname === '' || (rest !== '' && rest !== '/') || hasHalf) return refused;
  const [user, pass] = [decoded(username), decoded(password)];
  if (user === null || pass === null) return refused;
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const auth = user === '' ? null : { user, pass };
  return {
    ok: true,
    value: {
      host,
      port: port === '' ? (secure ? IMPLICIT_TLS_PORT : SUBMISSION_PORT) : Number(port),
      secure,
      auth,
      requireTls: !secure && auth !== null && !isLoopbackHost(host),
    },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function sender(text: string): Parsed<Smtp['from']> {
  const [, name = '', bracketed, bare] = ADDRESS.exec(text) ?? [];
  const address = bracketed ?? bare;
  return address === undefined
    ? { ok: false, culprit: text }
    : { ok: true, value: { name: name.trim(), address } };
}
