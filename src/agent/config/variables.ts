import {
  filePath,
  listOf,
  network,
  oneOf,
  onOrOff,
  webOrigin,
  wholeNumber,
} from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { LOG_LEVELS, type LogLevel } from '../../runtime/logger.ts';
import type { Network } from '../../runtime/net/address-guard.ts';
import { EVIDENCE_MODES, type EvidenceMode } from '../evidence/evidence.ts';
import { type Exemption, exemption } from '../net/proxy/no-proxy.ts';
import type { HttpProxy } from '../net/proxy/proxy-url.ts';
import type { ConnectivityTarget } from '../run/connectivity.ts';
import { MAX_OPERATOR_VARIABLES, variableName } from './operator-variables.ts';
import { hostAndPort, locationKey, proxyUrl, serviceUrl } from './parsers.ts';
import { type VariableTarget, variableTarget } from './variable-targets.ts';

/** The longest wait that Node's timers can do, in whole seconds: about 24 days. */
const MAX_GRACE_SECONDS = 2_147_483;
const MAX_CONNECTIVITY_TARGETS = 16;
const MAX_NETWORKS = 1000;
const MAX_TARGETS = 1000;
const MAX_ORIGINS = 100;
const MAX_EXEMPTIONS = 1000;
const PROXY_URL =
  'an http or https URL without a path, perhaps with a user and password (percent-encoded), for example http://proxy.example.com:3128';
const MAX_SPOOL_MIB = 1_048_576;
const MAX_SPOOL_DAYS = 365;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** Every variable that this release reads: src/agent/README.md, "Environment". */
export const VARIABLES = {
  serviceUrl: variable<URL | null>({
    name: 'SERVICE_URL',
    default: null,
    whenUnset: null,
    meaning:
      'The service that gives the checks and takes the results. Without it, CHECKS_FILE is needed.',
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
    meaning: 'A file that holds the key, in place of API_KEY; it is read again every 10 s.',
    allowed: 'the path of a file that holds pl_ and 32 hex digits',
    secret: false,
    parse: filePath,
  }),
  dataDir: variable<string | null>({
    name: 'DATA_DIR',
    default: null,
    whenUnset: null,
    meaning:
      'The folder where results wait for the service, and the last checks for a restart without it. Unset, both are in memory, bounded, and lost when the agent ends. With SERVICE_URL only.',
    allowed: 'the path of a folder that this agent alone uses',
    secret: false,
    parse: filePath,
  }),
  spoolMaxMib: variable<number>({
    name: 'SPOOL_MAX_MIB',
    default: '512',
    whenUnset: 512,
    meaning:
      'What may wait in DATA_DIR, in MiB; over it, attempts and artifacts go first, then the oldest results, each counted.',
    allowed: `a whole number from 1 to ${MAX_SPOOL_MIB}`,
    secret: false,
    parse: wholeNumber(1, MAX_SPOOL_MIB),
  }),
  spoolMaxDays: variable<number>({
    name: 'SPOOL_MAX_DAYS',
    default: '7',
    whenUnset: 7,
    meaning: 'How long results wait for the service before they are given up, counted.',
    allowed: `a whole number from 1 to ${MAX_SPOOL_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_SPOOL_DAYS),
  }),
  artifactOrigins: variable<readonly string[]>({
    name: 'ARTIFACT_ORIGINS',
    default: null,
    whenUnset: [],
    meaning:
      'Origins of the object store to which the service may have this agent send artifacts, beside that of SERVICE_URL (S3_DIRECT_UPLOAD of the service). Naming one is consent, whatever TARGET_DENY shuts out. Artifacts for any other origin go through the service.',
    allowed: `a list of at most ${MAX_ORIGINS} origins, apart by commas or spaces, each an http or https URL without a path and without wildcards, for example https://bucket.s3.eu-central-1.amazonaws.com`,
    secret: false,
    parse: listOf(webOrigin, MAX_ORIGINS),
  }),
  checksFile: variable<string | null>({
    name: 'CHECKS_FILE',
    default: null,
    whenUnset: null,
    meaning:
      'Stand-alone: the check file to run. Results go to stdout as NDJSON and out as metrics; the file is read again when it changes.',
    allowed: 'the path of a check file (YAML or JSON), for example ./vedette.yaml',
    secret: false,
    parse: filePath,
  }),
  concurrency: variable<number>({
    name: 'JOB_CONCURRENCY',
    default: '100',
    whenUnset: 100,
    meaning:
      'Runs at work at once. One that only waits for its target, or for its retry, takes no place.',
    allowed: 'a whole number from 1 to 1000',
    secret: false,
    parse: wholeNumber(1, 1000),
  }),
  healthPort: variable<number>({
    name: 'AGENT_HEALTH_PORT',
    default: '8081',
    whenUnset: 8081,
    meaning:
      'The port of health and metrics, on all addresses; 0 takes any free one, which the log names.',
    allowed: 'a whole number from 0 to 65535',
    secret: false,
    parse: wholeNumber(0, 65_535),
  }),
  externalObservability: variable<boolean>({
    name: 'EXTERNAL_OBSERVABILITY',
    default: 'on',
    whenUnset: true,
    meaning:
      "Reports of the agent's own errors to the service: class, code, places in Vedette's code, versions, counts; nothing of checks, targets or secrets. off stops them.",
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
  evidence: variable<EvidenceMode>({
    name: 'EVIDENCE',
    default: 'on',
    whenUnset: 'on',
    meaning:
      "Whether runs that fail for the network are followed by a trace of the way and a packet capture. An unencrypted request with a variable of the agent's own is captured with with-secrets only.",
    allowed: `one of ${EVIDENCE_MODES.join(', ')}`,
    secret: false,
    parse: oneOf(EVIDENCE_MODES),
  }),
  logLevel: variable<LogLevel>({
    name: 'LOG_LEVEL',
    default: 'info',
    whenUnset: 'info',
    meaning: 'How much is logged to stderr.',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    secret: false,
    parse: oneOf(LOG_LEVELS),
  }),
  shutdownGraceSeconds: variable<number>({
    name: 'SHUTDOWN_GRACE_SECONDS',
    default: '300',
    whenUnset: 300,
    meaning:
      'How long running checks may go on after SIGTERM or SIGINT; 0 cuts them short at once.',
    allowed: `a whole number of seconds from 0 to ${MAX_GRACE_SECONDS}`,
    secret: false,
    parse: wholeNumber(0, MAX_GRACE_SECONDS),
  }),
  connectivityTargets: variable<readonly ConnectivityTarget[]>({
    name: 'CONNECTIVITY_CHECK',
    default: null,
    whenUnset: [],
    meaning:
      'Hosts that show whether the agent has its own network: when none can be reached while checks fail, runs are recorded as missed (agent_offline), not as failures of the targets.',
    allowed: `a list of at most ${MAX_CONNECTIVITY_TARGETS} host:port, apart by commas or spaces, IPv6 addresses in brackets, for example 192.0.2.1:53, [2001:db8::1]:443`,
    secret: false,
    parse: listOf(hostAndPort, MAX_CONNECTIVITY_TARGETS),
  }),
  deniedNetworks: variable<readonly Network[]>({
    name: 'TARGET_DENY',
    default: null,
    whenUnset: [],
    meaning: 'Networks that no check may reach, tested on the resolved address of every hop.',
    allowed: `a list of at most ${MAX_NETWORKS} networks or addresses, apart by commas or spaces, for example 10.0.0.0/8, 192.0.2.7, fd00::/8`,
    secret: false,
    parse: listOf(network, MAX_NETWORKS),
  }),
  variablesFromEnv: variable<readonly string[]>({
    name: 'VARIABLES_FROM_ENV',
    default: null,
    whenUnset: [],
    meaning:
      "Variables of the agent's own environment that templates of checks may use, by name; their values are masked in all that leaves it.",
    allowed: `a list of at most ${MAX_OPERATOR_VARIABLES} names of letters, digits and underscores, apart by commas or spaces, for example DB_PASSWORD, SHOP_TOKEN`,
    secret: false,
    parse: listOf(variableName, MAX_OPERATOR_VARIABLES),
  }),
  variablesDir: variable<string | null>({
    name: 'VARIABLES_DIR',
    default: null,
    whenUnset: null,
    meaning:
      'A folder of values that templates of checks may use: one file each, named like its variable, as mounted secrets are. It is read again when it changes, and the values are masked in all that leaves the agent.',
    allowed: 'the path of a folder that can be read',
    secret: false,
    parse: filePath,
  }),
  variableTargets: variable<readonly VariableTarget[]>({
    name: 'VARIABLE_TARGETS',
    default: null,
    whenUnset: [],
    meaning:
      "Where the agent's own variables may be sent, each entry one variable and one target. A variable that has entries goes nowhere else; one without goes wherever a check sends it.",
    allowed: `a list of at most ${MAX_TARGETS} NAME@host or NAME@host:port, apart by commas or spaces, where *.host stands for all names below a host and IPv6 addresses are in brackets, for example DB_PASSWORD@db.internal:5432 TOKEN@*.shop.example`,
    secret: false,
    parse: listOf(variableTarget, MAX_TARGETS),
  }),
  httpsProxy: variable<HttpProxy | null>({
    name: 'HTTPS_PROXY',
    default: null,
    whenUnset: null,
    meaning:
      "The proxy for the agent's own https traffic: to the service, and to the object store of its artifacts. Checks go by the proxyUrl of their location. Also read as https_proxy, which wins.",
    allowed: PROXY_URL,
    secret: false,
    parse: proxyUrl,
  }),
  httpProxy: variable<HttpProxy | null>({
    name: 'HTTP_PROXY',
    default: null,
    whenUnset: null,
    meaning: 'The same for http. Also read as http_proxy, which wins.',
    allowed: PROXY_URL,
    secret: false,
    parse: proxyUrl,
  }),
  noProxy: variable<readonly Exemption[]>({
    name: 'NO_PROXY',
    default: null,
    whenUnset: [],
    meaning: 'Hosts that the agent goes to without a proxy. Also read as no_proxy, which wins.',
    allowed: `a list of at most ${MAX_EXEMPTIONS} names (each holds what is below it, too), addresses and networks, apart by commas or spaces, with :port for one port alone, or * for all, for example localhost, .example.com, 10.0.0.0/8`,
    secret: false,
    parse: listOf(exemption, MAX_EXEMPTIONS),
  }),
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
