import * as dns from 'node:dns';
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { VedetteError } from '../../runtime/errors.ts';

/**
 * The names of classes and codes that may leave the agent. Any other may contain anything: a class
 * can be made at run time, a code can come from a peer.
 */
const CLASSES: ReadonlySet<string> = new Set([
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError'],
  ...['URIError', 'AggregateError', 'DOMException', 'AssertionError', 'NodeError', 'SystemError'],
  ...[
    'VedetteError',
    'FileProblemsError',
    'EnoughProblems',
    'EnoughYamlProblems',
    'ProxyConnectError',
    'NoTokenResponse',
  ],
  ...['ZodError', 'YAMLError', 'YAMLParseError', 'YAMLWarning', 'TimeoutError', 'AbortError'],
  ...['JSONPathError', 'JSONPathTypeError', 'JSONPathIndexError', 'JSONPathSyntaxError'],
  ...['JSONPathLexerError', 'JSONPathRecursionLimitError'],
  // undici's, by name: loading undici for them would delay a start that does not need it.
  ...['UndiciError', 'ConnectTimeoutError', 'HeadersTimeoutError', 'HeadersOverflowError'],
  ...['BodyTimeoutError', 'RequestContentLengthMismatchError', 'InvalidArgumentError'],
  ...['InvalidReturnValueError', 'RequestAbortedError', 'ClientDestroyedError', 'SocketError'],
  ...['ClientClosedError', 'InformationalError', 'NotSupportedError', 'HTTPParserError'],
  ...['ResponseContentLengthMismatchError', 'BalancedPoolMissingUpstreamError', 'ResponseError'],
  ...['ResponseExceededMaxSizeError', 'RequestRetryError', 'SecureProxyConnectionError'],
  ...['MaxOriginsReachedError', 'Socks5ProxyError', 'MessageSizeExceededError'],
]);

const CODES: ReadonlySet<string> = new Set([
  ...Object.keys(constants.errno),
  ...[...getSystemErrorMap().values()].map(([name]) => name),
  ...Object.values(dns).filter((value) => typeof value === 'string'),
  'ABORT_ERR',
]);

/** Codes of Node (also those of OpenSSL in Node), of undici, and of Node's HTTP parser. */
const CODE_OF_A_LIBRARY = /^(ERR|UND_ERR|HPE)_[A-Z0-9_]{1,50}$/;
const OWN_CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** The class for thrown values that are not errors. */
const NO_ERROR = 'NotAnError';
const MAX_PROTOTYPES = 20;

/** The class of anything thrown, or the nearest one above it whose name is known. */
export function classOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return NO_ERROR;
  let prototype: unknown = Object.getPrototypeOf(thrown);
  for (let depth = 0; depth < MAX_PROTOTYPES && isObject(prototype); depth += 1) {
    const made: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
    const name: unknown =
      typeof made === 'function' ? Object.getOwnPropertyDescriptor(made, 'name')?.value : null;
    if (typeof name === 'string' && CLASSES.has(name)) return name;
    prototype = Object.getPrototypeOf(prototype);
  }
  return NO_ERROR;
}

/** The code of anything thrown; null if it has none, or none that is known. */
export function codeOf(thrown: unknown): string | null {
  if (!isObject(thrown) || !('code' in thrown)) return null;
  const { code } = thrown;
  if (typeof code !== 'string') return null;
  // Our own codes are constants of the source.
  const isKnown =
    thrown instanceof VedetteError
      ? OWN_CODE.test(code)
      : CODES.has(code) || CODE_OF_A_LIBRARY.test(code);
  return isKnown ? code : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
