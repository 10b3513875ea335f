import type { Check } from '../../model/check/check.ts';
import type { ApiRequest } from '../../model/check/request/http.ts';
import { type RequestAuth, TOKEN_FIELDS } from '../../model/check/request/request-auth.ts';

/**
 * A field of a check whose text may contain templates (src/model/README.md, "Variables and
 * secrets").
 */
export interface TextField {
  /** Selects the rules for its text once its templates are filled in. */
  readonly kind: 'url' | 'header' | 'query' | 'credential' | 'body' | 'data';
  /** The start of a sentence in messages: `The header X-Token`. */
  readonly label: () => string;
  /** The token endpoint receives it. */
  readonly isOfToken?: true;
  /** It is a Host header. */
  readonly isHost?: true;
}

export type MapText = (text: string, field: TextField) => string;

const MAX_NAME_CHARS = 100;

const URL_TEXT: TextField = { kind: 'url', label: () => 'The url' };
const BODY_TEXT: TextField = { kind: 'body', label: () => 'The body' };
const DATA_TEXT: TextField = { kind: 'data', label: () => 'The data' };
const sendOf = (index: number): TextField => {
  return { kind: 'data', label: () => `send of step ${index + 1}` };
};
const USER_NAME: TextField = { kind: 'credential', label: () => 'The username of basicAuth' };
const PASSWORD: TextField = { kind: 'credential', label: () => 'The password of basicAuth' };

/**
 * The check with each text that may contain templates replaced by `map`, in a fixed order.
 */
export function mapTexts(check: Check, map: MapText): Check {
  switch (check.checkType) {
    case 'URL': {
      const { request } = check;
      return { ...check, request: { ...request, url: map(request.url, URL_TEXT) } };
    }
    case 'API':
      return { ...check, request: mapApiRequest(check.request, map) };
    case 'TCP': {
      const { request } = check;
      const data = request.data === null ? null : map(request.data, DATA_TEXT);
      const steps = request.steps.map((step, index) =>
        step.send === null ? step : { ...step, send: map(step.send, sendOf(index)) },
      );
      return { ...check, request: { ...request, data, steps } };
    }
    case 'DNS':
    case 'ICMP':
      return check;
  }
}

function mapApiRequest(request: ApiRequest, map: MapText): ApiRequest {
  const { url, headers, queryParameters, body, basicAuth, auth } = request;
  return {
    ...request,
    url: map(url, URL_TEXT),
    headers: headers.map((header) => {
      const label = (): string => `The header ${shortened(header.key)}`;
      const host = /^\s*host\s*$/i.test(header.key) ? ({ isHost: true } as const) : {};
      return { ...header, value: map(header.value, { kind: 'header', label, ...host }) };
    }),
    queryParameters: queryParameters.map((parameter, index) => {
      const keyLabel = (): string => `The name of query parameter ${index + 1}`;
      const label = (): string => `The query parameter ${shortened(parameter.key)}`;
      return {
        ...parameter,
        key: map(parameter.key, { kind: 'query', label: keyLabel }),
        value: map(parameter.value, { kind: 'query', label }),
      };
    }),
    body: map(body, BODY_TEXT),
    basicAuth:
      basicAuth === null
        ? null
        : {
            username: map(basicAuth.username, USER_NAME),
            password: map(basicAuth.password, PASSWORD),
          },
    auth: auth === null ? null : mapAuth(auth, map),
  };
}

/** Fields without text of the user. */
const CHOICES: readonly string[] = ['type', 'clientAuthentication'];

function mapAuth(auth: RequestAuth, map: MapText): RequestAuth {
  const mapped = Object.entries(auth).map(([name, text]) => {
    if (text === undefined || CHOICES.includes(name)) return [name, text];
    const kind = name === 'tokenUrl' ? 'url' : 'credential';
    const label = (): string => `The ${name} of auth`;
    const token = TOKEN_FIELDS.includes(name) ? ({ isOfToken: true } as const) : {};
    return [name, map(text, { kind, label, ...token })];
  });
  // Only texts change, so the form stays the same.
  return Object.fromEntries(mapped) as RequestAuth;
}

function shortened(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
}
