/**
 * The closed lists of the API: src/service/README.md, "Values of shared fields", and
 * src/model/README.md, "The check file".
 */

export const CHECK_TYPES = [
  'AGENTIC',
  'API',
  'BROWSER',
  'HEARTBEAT',
  'ICMP',
  'MULTI_STEP',
  'TCP',
  'PLAYWRIGHT',
  'URL',
  'DNS',
] as const;
export type CheckType = (typeof CHECK_TYPES)[number];

/** The types an agent runs itself; HEARTBEAT is passive, the others need a browser or a model. */
export const RUNNABLE_CHECK_TYPES = ['URL', 'API', 'TCP', 'DNS', 'ICMP'] as const;
export type RunnableCheckType = (typeof RUNNABLE_CHECK_TYPES)[number];

/** The types that the service stores. */
export const STORED_CHECK_TYPES = [...RUNNABLE_CHECK_TYPES, 'HEARTBEAT'] as const;
export type StoredCheckType = (typeof STORED_CHECK_TYPES)[number];

/** In ascending order: each role may also do all that lower ones may. */
export const ROLES = ['read', 'run', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const LOCATIONS = [
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
  'ca-central-1',
  'sa-east-1',
  'eu-west-1',
  'eu-central-1',
  'eu-west-2',
  'eu-west-3',
  'eu-north-1',
  'eu-south-1',
  'me-south-1',
  'ap-southeast-1',
  'ap-northeast-1',
  'ap-east-1',
  'ap-southeast-2',
  'ap-southeast-3',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'af-south-1',
] as const;

export const RUNTIME_IDS = [
  '2026.04',
  '2025.04',
  '2024.09',
  '2024.02',
  '2023.09',
  '2023.02',
  '2022.10',
] as const;

/** Minutes between runs; 0 is sub-minute, where the offset is the period in seconds. */
export const FREQUENCIES = [0, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440] as const;
export type Frequency = (typeof FREQUENCIES)[number];

export const IP_FAMILIES = ['IPv4', 'IPv6'] as const;
export type IpFamily = (typeof IP_FAMILIES)[number];

/** What a check may ask for. ANY: the family that connects first. BOTH: each family must pass. */
export const FAMILY_CHOICES = [...IP_FAMILIES, 'ANY', 'BOTH'] as const;
export type FamilyChoice = (typeof FAMILY_CHOICES)[number];
