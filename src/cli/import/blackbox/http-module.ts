import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { statusRuleOf } from '../common/accepted-statuses.ts';
import { assertion } from '../common/assertions.ts';
import {
  isTrue,
  isUnset,
  listOf,
  mappingOf,
  NOTHING_NEEDED,
  numberOf,
  type Reason,
  reportOthers,
  textOf,
  textsOf,
} from '../common/fields.ts';
import { type HttpProbe, type KeyValue, PLAIN_GET } from '../common/probe.ts';
import { below } from '../common/source-file.ts';
import {
  familyOf,
  type ModuleContext,
  type ModuleReader,
  patternOf,
  SHARED_REASONS,
  TLS_REASONS,
} from './module-parts.ts';

const PROXY: Reason = ['checks have no proxy of their own', 'set proxyUrl of the private location'];
const CEL: Reason = [
  'checks have no CEL expressions',
  'write assertions on JSON_BODY or JSON_SCHEMA',
];
const REASONS: Readonly<Record<string, Reason>> = {
  ...SHARED_REASONS,
  fail_if_ssl: [
    'no assertion requires that there is no TLS',
    'check the redirect with an assertion on HEADERS location',
  ],
  fail_if_body_json_matches_cel: CEL,
  fail_if_body_json_not_matches_cel: CEL,
  proxy_url: PROXY,
  no_proxy: PROXY,
  proxy_from_environment: PROXY,
  proxy_connect_header: PROXY,
  skip_resolve_phase_with_proxy: PROXY,
  use_proxy_dns: PROXY,
  body_size_limit: ['checks read at most 25 MB of a body', NOTHING_NEEDED],
  compression: ['checks accept gzip, deflate, br and zstd', NOTHING_NEEDED],
  enable_http3: ['checks do not use HTTP/3', 'the check uses HTTP/2 or 1.1'],
  body_file: ['the file is not read', 'put its text into body of the check'],
};
const HANDLED = [
  ...['valid_status_codes', 'accept_any_response', 'valid_http_versions', 'method', 'headers'],
  ...['follow_redirects', 'no_follow_redirects', 'fail_if_not_ssl', 'tls_config', 'basic_auth'],
  ...['fail_if_body_matches_regexp', 'fail_if_body_not_matches_regexp'],
  ...['fail_if_header_matches', 'fail_if_header_not_matches'],
  ...['authorization', 'bearer_token', 'bearer_token_file', 'oauth2', 'enable_http2', 'body'],
  ...['preferred_ip_protocol', 'ip_protocol_fallback', 'http_headers'],
];

export const httpModule: ModuleReader = (section, context) => {
  const { origin, draft, name } = context;
  reportOthers(section, origin, draft.report, { handled: HANDLED, reasons: REASONS });
  const tls = mappingOf(section.tls_config);
  reportOthers(tls, below(origin, 'tls_config'), draft.report, {
    handled: ['insecure_skip_verify'],
    reasons: TLS_REASONS,
  });
  const statuses = statusRule(section, context);
  const versions = versionAssertions(section, context);
  if (statuses === null || versions === null) return null;
  const follows = section.follow_redirects;
  const request: Omit<HttpProbe, 'url'> = {
    ...PLAIN_GET,
    method: (textOf(section.method) ?? 'GET').toUpperCase(),
    headers: headersOf(section, context),
    body: draft.variables.text(textOf(section.body) ?? '', `${name}_BODY`),
    ...credentialsOf(section, context),
    followRedirects:
      (follows === undefined || isTrue(follows)) && !isTrue(section.no_follow_redirects),
    skipSSL: isTrue(tls.insecure_skip_verify),
  };
  const assertions = [
    ...statuses.assertions,
    ...versions,
    ...(isTrue(section.fail_if_not_ssl)
      ? [assertion('CERTIFICATE', 'NOT_NULL', '', { property: 'protocol' })]
      : []),
    ...bodyAssertions(section, context),
    ...headerAssertions(section, context),
  ];
  return (target) => {
    const url = /^https?:\/\//.test(target) ? target : `http://${target}`;
    return {
      target: { ...request, url: draft.variables.url(url, name) },
      assertions,
      shouldFail: statuses.shouldFail,
      ipFamily: familyOf(section),
    };
  };
};

function statusRule(section: RawMapping, { origin, draft }: ModuleContext) {
  const codes = listOf(section.valid_status_codes).flatMap((code) => numberOf(code) ?? []);
  const isAny = isTrue(section.accept_any_response);
  const is2xx = (status: number): boolean => status < 300;
  const rule = statusRuleOf(
    (status) => isAny || (codes.length === 0 ? is2xx(status) : codes.includes(status)),
  );
  const at = below(origin, isAny ? 'accept_any_response' : 'valid_status_codes');
  if (rule === null) {
    draft.report.leftOut(at, 'no status from 200 to 599 is accepted', 'write the check by hand');
  }
  return rule;
}

/** null if only versions are accepted that checks do not support, which is reported. */
function versionAssertions(
  section: RawMapping,
  { origin, draft }: ModuleContext,
): readonly Assertion[] | null {
  const accepted = textsOf(section.valid_http_versions).map((version) =>
    version.replace(/^HTTP\//i, '').replace(/^2\.0$/, '2'),
  );
  const versions = accepted.filter((version) => !version.startsWith('3'));
  if (accepted.length > 0 && versions.length === 0) {
    const why = 'checks do not use HTTP/3, so the module makes no checks';
    const advice = 'accept HTTP/2.0 or HTTP/1.1, too';
    draft.report.leftOut(below(origin, 'valid_http_versions'), why, advice);
    return null;
  }
  const [only] = versions;
  if (only === undefined) return [];
  if (versions.length === 1) return [assertion('HTTP_VERSION', 'EQUALS', only)];
  const list = [...new Set(versions)].map((version) => version.replaceAll('.', '\\.')).join('|');
  return [assertion('HTTP_VERSION', 'NOT_NULL', '', { regex: `^(?:${list})$` })];
}

function headersOf(section: RawMapping, { name, draft }: ModuleContext): readonly KeyValue[] {
  // `http_headers` is the newer form: a header with its values, also secret ones.
  const newer = Object.entries(mappingOf(section.http_headers)).flatMap(([key, raw]) => {
    const { values, secrets, files } = mappingOf(raw);
    const hidden = [...textsOf(secrets), ...textsOf(files).map(() => null)].map((value) =>
      draft.variables.secret(value, `${name}_${key}`, `the header ${key} of the module ${name}`),
    );
    return [...textsOf(values), ...hidden].map((value) => [key, value] as const);
  });
  const older = Object.entries(mappingOf(section.headers)).flatMap(([key, value]) =>
    textsOf(value).map((text) => [key, text] as const),
  );
  return [...older, ...newer].map(([key, value]) => ({
    key,
    value: draft.variables.header(key, value, name),
  }));
}

function credentialsOf(
  section: RawMapping,
  { name, origin, draft }: ModuleContext,
): Partial<Pick<HttpProbe, 'basicAuth' | 'auth' | 'headers'>> {
  const { variables, report } = draft;
  const oauth = mappingOf(section.oauth2);
  if (!isUnset(section.oauth2)) {
    reportOthers(oauth, below(origin, 'oauth2'), report, {
      handled: [
        'client_id',
        'client_secret',
        'client_secret_file',
        'scopes',
        'token_url',
        'endpoint_params',
        'tls_config',
      ],
      reasons: { proxy_url: PROXY },
    });
    const { audience, grant_type: _, ...others } = mappingOf(oauth.endpoint_params);
    reportOthers(others, below(origin, 'oauth2', 'endpoint_params'), report, {
      handled: [],
      reasons: {},
    });
    const meaning = `the client secret of the module ${name}`;
    const scope = textsOf(oauth.scopes).join(' ');
    const auth = {
      type: 'OAUTH2_CLIENT_CREDENTIALS',
      tokenUrl: textOf(oauth.token_url) ?? '',
      clientId: textOf(oauth.client_id) ?? '',
      clientSecret: variables.secret(textOf(oauth.client_secret), `${name}_CLIENT_SECRET`, meaning),
      ...(scope === '' ? {} : { scope }),
      ...(textOf(audience) === null ? {} : { audience: textOf(audience) ?? '' }),
    };
    return { auth };
  }
  const basic = mappingOf(section.basic_auth);
  if (isUnset(section.basic_auth)) return bearerOf(section, { name, origin, draft });
  const meaning = `the password of the module ${name}`;
  const user = textOf(basic.username);
  const username =
    user ?? variables.secret(null, `${name}_USERNAME`, `the user name of the module ${name}`);
  const password = textOf(basic.password);
  return {
    basicAuth: { username, password: variables.secret(password, `${name}_PASSWORD`, meaning) },
  };
}

function bearerOf(
  section: RawMapping,
  context: ModuleContext,
): Partial<Pick<HttpProbe, 'headers'>> {
  const { name, draft } = context;
  const { type, credentials, credentials_file } = mappingOf(section.authorization);
  const { bearer_token, bearer_token_file } = section;
  const fields = [credentials, credentials_file, bearer_token, bearer_token_file];
  if (fields.every(isUnset)) return {};
  const value = textOf(credentials) ?? textOf(bearer_token);
  const meaning = `the credentials of the module ${name}`;
  const secret = draft.variables.secret(value, `${name}_TOKEN`, meaning);
  const header = { key: 'Authorization', value: `${textOf(type) ?? 'Bearer'} ${secret}` };
  return { headers: [...headersOf(section, context), header] };
}

function bodyAssertions(section: RawMapping, context: ModuleContext): readonly Assertion[] {
  const of = (field: string, comparison: 'IS_NULL' | 'NOT_NULL') =>
    textsOf(section[field]).flatMap((text, index) => {
      const regex = patternOf(text, [field, index], context);
      return regex === null ? [] : [assertion('TEXT_BODY', comparison, '', { regex })];
    });
  return [
    ...of('fail_if_body_matches_regexp', 'IS_NULL'),
    ...of('fail_if_body_not_matches_regexp', 'NOT_NULL'),
  ];
}

function headerAssertions(section: RawMapping, context: ModuleContext): readonly Assertion[] {
  const { origin, draft } = context;
  const of = (field: string, comparison: 'IS_NULL' | 'NOT_NULL') =>
    listOf(section[field]).flatMap((raw, index) => {
      const { header, regexp, allow_missing } = mappingOf(raw);
      const regex = patternOf(textOf(regexp) ?? '', [field, index, 'regexp'], context);
      if (regex === null) return [];
      const property = textOf(header) ?? '';
      const matches = assertion('HEADERS', comparison, '', { property, regex });
      if (comparison === 'IS_NULL') {
        const isThere = assertion('HEADERS', 'NOT_NULL', '', { property });
        return isTrue(allow_missing) ? [matches] : [isThere, matches];
      }
      if (!isTrue(allow_missing)) return [matches];
      const why = 'no assertion passes both without the header and with a value that matches';
      draft.report.leftOut(
        below(origin, field, index),
        why,
        'assert on the header if it is always there',
      );
      return [];
    });
  return [
    ...of('fail_if_header_matches', 'IS_NULL'),
    ...of('fail_if_header_not_matches', 'NOT_NULL'),
  ];
}
