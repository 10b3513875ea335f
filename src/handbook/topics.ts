/** A part of the documents that answers one question. */
export interface Topic {
  /** In the address `/docs/NAME` and in `vedette help NAME`. No command has the same name. */
  readonly name: string;
  readonly title: string;
  /** Its content in a few words, for the list of topics. */
  readonly summary: string;
  /** The path of its document in the package. */
  readonly document: string;
  /** The headings of its sections, as the document writes them. */
  readonly headings: readonly string[];
}

export interface TopicGroup {
  readonly title: string;
  readonly topics: readonly Topic[];
}

/** The service adds its API reference to it. */
export const API_GROUP = 'API';
const README = 'README.md';
const CHECKS = 'src/model/README.md';
const AGENT = 'src/agent/README.md';
const SERVICE = 'src/service/README.md';
const MASKING = 'src/scrub/README.md';
const CONTAINERS = 'docker/README.md';

/**
 * The handbook. A section belongs to the topic that names its heading; a heading of level 3 or deeper
 * that no topic names belongs to the topic of the heading above it. All other headings are in
 * LEFT_OUT. A test compares both lists with the documents.
 */
export const TOPIC_GROUPS: readonly TopicGroup[] = [
  {
    title: 'First steps',
    topics: [
      {
        name: 'start',
        title: 'Getting started',
        summary: 'start Vedette, write a check, add a service and its agents',
        document: README,
        headings: ['Vedette', 'Start', 'A status page', 'A service and its agents'],
      },
      {
        name: 'first-status-page',
        title: 'From nothing to a status page',
        summary: 'a status page from one file and one command',
        document: SERVICE,
        headings: ['From nothing to a status page'],
      },
      {
        name: 'commands',
        title: 'Commands',
        summary: 'every command, its flags and exit codes',
        document: README,
        headings: ['Commands'],
      },
    ],
  },
  {
    title: 'Checks',
    topics: [
      {
        name: 'checks',
        title: 'The check file',
        summary: 'fields of all check types, thresholds, retries, slots',
        document: CHECKS,
        headings: ['The check file'],
      },
      {
        name: 'importing',
        title: 'Checks of other programs',
        summary: 'check files from blackbox_exporter, Gatus and Uptime Kuma',
        document: CHECKS,
        headings: ['Checks of other programs'],
      },
      {
        name: 'assertions',
        title: 'Assertions',
        summary: 'sources and comparisons',
        document: CHECKS,
        headings: ['Assertions'],
      },
      {
        name: 'results',
        title: 'Results',
        summary: 'what a result contains',
        document: CHECKS,
        headings: ['Results'],
      },
      {
        name: 'error-codes',
        title: 'Error codes',
        summary: 'what each error code means, and what to try',
        document: CHECKS,
        headings: ['Error codes'],
      },
      {
        name: 'variables',
        title: 'Variables and secrets',
        summary: 'values for {{NAME}}, and who can read them',
        document: CHECKS,
        headings: ['Variables and secrets'],
      },
      {
        name: 'masking',
        title: 'How secrets are masked',
        summary: 'which values are masked, and where',
        document: MASKING,
        headings: ['How secrets are masked', 'What is masked, and where'],
      },
      {
        name: 'checks-as-code',
        title: 'Checks as code',
        summary: 'make a service match a check file',
        document: SERVICE,
        headings: ['Checks as a file: `vedette apply`'],
      },
    ],
  },
  {
    title: 'Agents',
    topics: [
      {
        name: 'agents',
        title: 'Operating the agent',
        summary: 'environment variables, DATA_DIR, keys, ICMP',
        document: AGENT,
        headings: ['The agent', 'Operating the agent'],
      },
      {
        name: 'proxies',
        title: 'Networks and proxies',
        summary: 'proxies, TARGET_DENY, IPv6',
        document: AGENT,
        headings: ['Networks and proxies'],
      },
      {
        name: 'metrics',
        title: 'Health and metrics of the agent',
        summary: 'health endpoints and Prometheus metrics',
        document: AGENT,
        headings: ['Health', 'Metrics'],
      },
      {
        name: 'evidence',
        title: 'Evidence of a failure',
        summary: 'traceroutes and packet captures of failed runs',
        document: AGENT,
        headings: ['Evidence: traceroute and packet capture'],
      },
      {
        name: 'queues',
        title: 'Concurrency and queues',
        summary: 'JOB_CONCURRENCY, waiting runs, delivery of results',
        document: AGENT,
        headings: ['Concurrency and memory', 'Delivery of results'],
      },
      {
        name: 'trust',
        title: 'Trust model of a private location',
        summary: 'what agent and service can make each other do',
        document: AGENT,
        headings: ['Trust model of a private location'],
      },
      {
        name: 'timing',
        title: 'How times are measured',
        summary: 'accuracy of times, and runs without a verdict',
        document: AGENT,
        headings: ['Timing and CPU starvation'],
      },
    ],
  },
  {
    title: 'Operating the service',
    topics: [
      {
        name: 'operations',
        title: 'Operating the service',
        summary: 'environment variables, databases, artifacts, health',
        document: SERVICE,
        headings: ['The service', 'Operating the service'],
      },
      {
        name: 'sizing',
        title: 'Sizing',
        summary: 'CPU, memory and disk of agents, service and database',
        document: SERVICE,
        headings: ['Sizing'],
      },
      {
        name: 'key-rotation',
        title: 'Rotation of keys',
        summary: 'replace keys and passwords without an interruption',
        document: SERVICE,
        headings: ['Rotation of keys'],
      },
      {
        name: 'upgrades',
        title: 'Upgrades',
        summary: 'the order of an upgrade, and how to go back',
        document: SERVICE,
        headings: ['Upgrades'],
      },
      {
        name: 'backups',
        title: 'Backups',
        summary: 'what to back up, and how to restore it',
        document: SERVICE,
        headings: ['Backups'],
      },
      {
        name: 'monitoring',
        title: 'Prometheus alert rules',
        summary: 'alert rules about Vedette itself',
        document: SERVICE,
        headings: ['Prometheus alert rules'],
      },
      {
        name: 'secrets',
        title: 'Secrets at rest',
        summary: 'what is encrypted in the database',
        document: SERVICE,
        headings: ['Secrets at rest'],
      },
    ],
  },
  {
    title: 'What the service does',
    topics: [
      {
        name: 'locations',
        title: 'Locations and agents',
        summary: 'leases, rotation, runs on request, retries, artifacts',
        document: SERVICE,
        headings: ['Private locations and agents'],
      },
      {
        name: 'alerts',
        title: 'Alerts and notifications',
        summary: 'acknowledgement, grouping, email, webhooks, chats, on-call',
        document: SERVICE,
        headings: ['Alerts', 'Notifications: email, webhook, Slack, SMS'],
      },
      {
        name: 'maintenance',
        title: 'Maintenance windows',
        summary: 'pause checks and silence alerts',
        document: SERVICE,
        headings: ['Maintenance windows'],
      },
      {
        name: 'heartbeats',
        title: 'Heartbeats',
        summary: 'jobs that report by a ping',
        document: SERVICE,
        headings: ['Heartbeats'],
      },
      {
        name: 'analytics',
        title: 'Analytics',
        summary: 'availability and response times over a window',
        document: SERVICE,
        headings: ['Analytics'],
      },
      {
        name: 'error-groups',
        title: 'Error groups and test sessions',
        summary: 'the same error, grouped; runs of a pipeline',
        document: SERVICE,
        headings: ['Error groups and test sessions'],
      },
      {
        name: 'root-causes',
        title: 'Root cause analyses',
        summary: 'why a check failed, by rules or by a model',
        document: SERVICE,
        headings: ['Root cause analyses'],
      },
      {
        name: 'status-pages',
        title: 'Status pages and incidents',
        summary: 'cards, services, incidents',
        document: SERVICE,
        headings: ['Status pages and incidents'],
      },
      {
        name: 'users',
        title: 'Users and sessions',
        summary: 'signing in, invitations, roles, cookies',
        document: SERVICE,
        headings: ['Users and sessions'],
      },
      {
        name: 'audit-log',
        title: 'Audit log',
        summary: 'who changed what, and when',
        document: SERVICE,
        headings: ['Audit log'],
      },
      {
        name: 'plans',
        title: 'Plans',
        summary: 'limits of accounts',
        document: SERVICE,
        headings: ['Plans'],
      },
    ],
  },
  {
    title: API_GROUP,
    topics: [
      {
        name: 'api-guide',
        title: 'Using the API',
        summary: 'keys, roles, paging, errors, resources, credentials',
        document: SERVICE,
        headings: ['The API'],
      },
      {
        name: 'endpoints',
        title: 'Every endpoint',
        summary: 'all endpoints with their roles',
        document: SERVICE,
        headings: ['Every endpoint'],
      },
    ],
  },
  {
    title: 'Containers',
    topics: [
      {
        name: 'containers',
        title: 'Images and containers',
        summary: 'build and run the two images',
        document: CONTAINERS,
        headings: ['Containers', 'Single containers'],
      },
      {
        name: 'compose',
        title: 'Docker Compose',
        summary: 'everything on one machine',
        document: CONTAINERS,
        headings: ['Docker Compose'],
      },
      {
        name: 'kubernetes',
        title: 'Kubernetes',
        summary: 'agents and service in a cluster',
        document: CONTAINERS,
        headings: ['Kubernetes'],
      },
      {
        name: 'helm',
        title: 'Helm',
        summary: 'the chart',
        document: CONTAINERS,
        headings: ['Helm'],
      },
      {
        name: 'systemd',
        title: 'systemd',
        summary: 'hardened units for agents and the service',
        document: CONTAINERS,
        headings: ['systemd'],
      },
    ],
  },
];

/** Headings that are not for users, by document. The index of the handbook replaces that of README.md. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  [README]: ['Documentation'],
  [CHECKS]: ['Checks and results'],
};

export const TOPICS: readonly Topic[] = TOPIC_GROUPS.flatMap(({ topics }) => topics);

/** Every document of the handbook, by its path in the package. */
export const HANDBOOK_DOCUMENTS: readonly string[] = [
  ...new Set(TOPICS.map(({ document }) => document)),
];
