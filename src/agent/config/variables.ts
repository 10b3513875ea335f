import {
  filePath,
  ipAddress,
  listParser,
  network,
  oneOf,
  onOrOff,
  webOrigin,
  wholeNumber,
} from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { LOG_LEVELS, type LogLevel } from '../../runtime/logger.ts';
import type { Network } from '../../runtime/net/address-guard.ts';
import { PROXY_VARIABLES } from '../../runtime/net/proxy/proxy-variables.ts';
import { EVIDENCE_MODES, type EvidenceMode } from '../evidence/evidence-budget.ts';
import type { ConnectivityTarget } from '../run/connectivity.ts';
import { MAX_OPERATOR_VARIABLES, variableName } from './operator-variables.ts';
import { OTLP_VARIABLES } from './otlp-variables.ts';
import { hostAndPort, locationKey, serviceUrl, tagPattern } from './parsers.ts';
import { TARGETS_FROM_VARIABLE } from './targets-from.ts';
import { type VariableTarget, variableTarget } from './variable-targets.ts';

/** The longest wait of Node's timers, in whole seconds: about 24 days. */
const MAX_GRACE_SECONDS = 2_147_483;
const MAX_CONNECTIVITY_TARGETS = 16;
const MAX_NETWORKS = 1000;
const MAX_TARGETS = 1000;
const MAX_ORIGINS = 100;
const MAX_METRIC_TAGS = 100;
const MAX_SCRIPT_WORKERS = 64;
const MAX_SPOOL_MIB = 1_048_576;
const MAX_SPOOL_DAYS = 365;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** Every variable that this release reads: src/agent/README.md, "Environment". */
export const VARIABLES = {
  serviceUrl: variable<URL | null>({
    name: 'SERVICE_URL',
    default: null,
    whenUnset: null,
    meaning: 'The URL of the service. Required without CHECKS_FILE.',
    allowed:
      'an http or https URL without credentials, query or fragment, for example https://vedette.example.com',
    secret: false,
    parse: serviceUrl,
  }),
  apiKey: variable<string | null>({
    name: 'API_KEY',
    default: null,
    whenUnset: null,
    meaning: "The private location's key.",
    allowed: 'the key of a private location: pl_ and 32 hex digits',
    secret: true,
    parse: locationKey,
  }),
  apiKeyFile: variable<string | null>({
    name: 'API_KEY_FILE',
    default: null,
    whenUnset: null,
    meaning: 'A file with the location key, instead of API_KEY. Reread every 10 s.',
    allowed: 'the path of a file that contains pl_ and 32 hex digits',
    secret: false,
    parse: filePath,
  }),
  dataDir: variable<string | null>({
    name: 'DATA_DIR',
    default: null,
    whenUnset: null,
    meaning:
      'The folder for results that wait for the service and for the last assigned checks. Without it, both are kept in memory and lost when the agent exits. Only with SERVICE_URL.',
    allowed: 'the path of a folder that this agent alone uses',
    secret: false,
    parse: filePath,
  }),
  spoolMaxMib: variable<number>({
    name: 'SPOOL_MAX_MIB',
    default: '512',
    whenUnset: 512,
    meaning:
      'Maximum size of DATA_DIR, in MiB. Above it, the agent drops attempts and artifacts first, then the oldest results, and counts them.',
    allowed: `a whole number from 1 to ${MAX_SPOOL_MIB}`,
    secret: false,
    parse: wholeNumber(1, MAX_SPOOL_MIB),
  }),
  spoolMaxDays: variable<number>({
    name: 'SPOOL_MAX_DAYS',
    default: '7',
    whenUnset: 7,
    meaning: 'How many days results wait for the service. Older ones are dropped and counted.',
    allowed: `a whole number from 1 to ${MAX_SPOOL_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_SPOOL_DAYS),
  }),
  artifactOrigins: variable<readonly string[]>({
    name: 'ARTIFACT_ORIGINS',
    default: null,
    whenUnset: [],
    meaning:
      'Origins, besides SERVICE_URL, to which the agent may upload artifacts (S3_DIRECT_UPLOAD of the service). They are allowed even if TARGET_DENY denies their network. Artifacts for other origins go through the service.',
    allowed: `a list of at most ${MAX_ORIGINS} origins, separated by commas or spaces, each an http or https URL without a path and without wildcards, for example https://bucket.s3.eu-central-1.amazonaws.com`,
    secret: false,
    parse: listParser(webOrigin, MAX_ORIGINS),
  }),
  checksFile: variable<string | null>({
    name: 'CHECKS_FILE',
    default: null,
    whenUnset: null,
    meaning:
      'Stand-alone mode: the check file to run. Results are written to stdout as NDJSON. The file is reloaded when it changes.',
    allowed: 'the path of a check file (YAML or JSON), for example ./vedette.yaml',
    secret: false,
    parse: filePath,
  }),
  targetsFrom: TARGETS_FROM_VARIABLE,
  concurrency: variable<number>({
    name: 'JOB_CONCURRENCY',
    default: '100',
    whenUnset: 100,
    meaning:
      'Maximum number of working runs. A run that only waits for its target or for a retry does not count.',
    allowed: 'a whole number from 1 to 1000',
    secret: false,
    parse: wholeNumber(1, 1000),
  }),
  executeScripts: variable<boolean>({
    name: 'EXECUTE_SCRIPTS',
    default: 'on',
    whenUnset: true,
    meaning:
      'Whether setup and teardown scripts of checks run. If off, checks with scripts fail (SCRIPT_REFUSED).',
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
  scriptWorkers: variable<number>({
    name: 'SCRIPT_WORKERS',
    default: '2',
    whenUnset: 2,
    meaning: 'Maximum number of setup and teardown scripts that run at once; others wait.',
    allowed: `a whole number from 1 to ${MAX_SCRIPT_WORKERS}`,
    secret: false,
    parse: wholeNumber(1, MAX_SCRIPT_WORKERS),
  }),
  healthPort: variable<number>({
    name: 'AGENT_HEALTH_PORT',
    default: '8081',
    whenUnset: 8081,
    meaning:
      'The port for health and metrics, on AGENT_HEALTH_HOST. 0 chooses a free port and logs it.',
    allowed: 'a whole number from 0 to 65535',
    secret: false,
    parse: wholeNumber(0, 65_535),
  }),
  healthHost: variable<string | null>({
    name: 'AGENT_HEALTH_HOST',
    default: null,
    whenUnset: null,
    meaning:
      'The address that the port for health and metrics listens on. Default: all addresses. Set 127.0.0.1 if only a Prometheus on the same machine may read them, above all with PROBE_ENDPOINT=on. In a container leave it unset, and publish the port at 127.0.0.1 instead.',
    allowed: 'an IP address, for example 127.0.0.1 or ::',
    secret: false,
    parse: ipAddress,
  }),
  metricTags: variable<readonly string[]>({
    name: 'METRIC_TAGS',
    default: null,
    whenUnset: [],
    meaning:
      'The tags of checks that the label `tags` of their metrics contains. Each further tag adds series in Prometheus.',
    allowed: `a list of at most ${MAX_METRIC_TAGS} tags, separated by commas or spaces, with * at the end for all that begin like this, for example production, team:*`,
    secret: false,
    parse: listParser(tagPattern, MAX_METRIC_TAGS),
  }),
  probeEndpoint: variable<boolean>({
    name: 'PROBE_ENDPOINT',
    default: 'off',
    whenUnset: false,
    meaning:
      'Whether the health port has `/probe`, which runs a check of CHECKS_FILE with a target that the request names. Only with CHECKS_FILE.',
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
  ...OTLP_VARIABLES,
  externalObservability: variable<boolean>({
    name: 'EXTERNAL_OBSERVABILITY',
    default: 'on',
    whenUnset: true,
    meaning:
      "Whether the agent reports its own errors to the service: class, code, stack frames in Vedette's code, versions and counts. Reports contain nothing of checks, targets or secrets.",
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
  evidence: variable<EvidenceMode>({
    name: 'EVIDENCE',
    default: 'on',
    whenUnset: 'on',
    meaning:
      'Whether a network failure is followed by a traceroute and a packet capture. with-secrets also captures unencrypted requests that contain variables of the agent.',
    allowed: `one of ${EVIDENCE_MODES.join(', ')}`,
    secret: false,
    parse: oneOf(EVIDENCE_MODES),
  }),
  logLevel: variable<LogLevel>({
    name: 'LOG_LEVEL',
    default: 'info',
    whenUnset: 'info',
    meaning: 'Log level for stderr.',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    secret: false,
    parse: oneOf(LOG_LEVELS),
  }),
  shutdownGraceSeconds: variable<number>({
    name: 'SHUTDOWN_GRACE_SECONDS',
    default: '300',
    whenUnset: 300,
    meaning:
      'How long running checks may continue after SIGTERM or SIGINT. 0 stops them immediately.',
    allowed: `a whole number of seconds from 0 to ${MAX_GRACE_SECONDS}`,
    secret: false,
    parse: wholeNumber(0, MAX_GRACE_SECONDS),
  }),
  connectivityTargets: variable<readonly ConnectivityTarget[]>({
    name: 'CONNECTIVITY_CHECK',
    default: null,
    whenUnset: [],
    meaning:
      'Hosts that show whether the agent has a network. If none is reachable while checks fail, runs are recorded as missed (agent_offline) instead of failed.',
    allowed: `a list of at most ${MAX_CONNECTIVITY_TARGETS} host:port, separated by commas or spaces, IPv6 addresses in brackets, for example 192.0.2.1:53, [2001:db8::1]:443`,
    secret: false,
    parse: listParser(hostAndPort, MAX_CONNECTIVITY_TARGETS),
  }),
  deniedNetworks: variable<readonly Network[]>({
    name: 'TARGET_DENY',
    default: null,
    whenUnset: [],
    meaning: 'Networks that no check may reach, tested on the resolved address of every hop.',
    allowed: `a list of at most ${MAX_NETWORKS} networks or addresses, separated by commas or spaces, for example 10.0.0.0/8, 192.0.2.7, fd00::/8`,
    secret: false,
    parse: listParser(network, MAX_NETWORKS),
  }),
  variablesFromEnv: variable<readonly string[]>({
    name: 'VARIABLES_FROM_ENV',
    default: null,
    whenUnset: [],
    meaning:
      "Variables of the agent's own environment that templates of checks may use, by name. Their values are masked in everything that the agent reports, logs and stores.",
    allowed: `a list of at most ${MAX_OPERATOR_VARIABLES} names of letters, digits and underscores, separated by commas or spaces, for example DB_PASSWORD, SHOP_TOKEN`,
    secret: false,
    parse: listParser(variableName, MAX_OPERATOR_VARIABLES),
  }),
  variablesDir: variable<string | null>({
    name: 'VARIABLES_DIR',
    default: null,
    whenUnset: null,
    meaning:
      'A folder with one file per variable that templates of checks may use, named like the variable, as Kubernetes and Docker mount secrets. Changes are detected. The values are masked in everything that the agent reports, logs and stores.',
    allowed: 'the path of a folder that can be read',
    secret: false,
    parse: filePath,
  }),
  variableTargets: variable<readonly VariableTarget[]>({
    name: 'VARIABLE_TARGETS',
    default: null,
    whenUnset: [],
    meaning:
      'The targets to which variables of the agent may be sent, one variable and one target per entry. A variable without an entry may be sent to any target.',
    allowed: `a list of at most ${MAX_TARGETS} NAME@host or NAME@host:port, separated by commas or spaces, where *.host matches all names below a host and IPv6 addresses are in brackets, for example DB_PASSWORD@db.internal:5432 TOKEN@*.shop.example`,
    secret: false,
    parse: listParser(variableTarget, MAX_TARGETS),
  }),
  httpsProxy: {
    ...PROXY_VARIABLES.httpsProxy,
    meaning:
      "The proxy for the agent's own https traffic (service, object store). Checks use the proxyUrl of their location. https_proxy takes precedence.",
  },
  httpProxy: {
    ...PROXY_VARIABLES.httpProxy,
    meaning: "The proxy for the agent's own http traffic. http_proxy takes precedence.",
  },
  noProxy: {
    ...PROXY_VARIABLES.noProxy,
    meaning: 'Hosts that the agent reaches without a proxy. no_proxy takes precedence.',
  },
  extraCaCerts: variable<string | null>({
    name: 'NODE_EXTRA_CA_CERTS',
    default: null,
    whenUnset: null,
    meaning: 'A file of further root certificates (PEM) to trust. Node itself reads it.',
    allowed: 'the path of a readable file of PEM certificates',
    secret: false,
    parse: filePath,
  }),
} as const;
