import { z } from 'zod';
import { CHECK_ID } from '../ids.ts';

/** What a root cause analysis may be classified as by the rules, and what it means. */
export const CLASSIFICATIONS = {
  DNS_FAILURE: 'The name could not be resolved, or not to what is needed.',
  CONNECTION_FAILURE: 'The host was found, and no connection came about.',
  CERTIFICATE_PROBLEM: 'The certificate of the server is not one to be trusted for the host.',
  CLIENT_CERTIFICATE_PROBLEM: 'The client certificate is missing, refused or not to be used.',
  TLS_FAILURE: 'The TLS handshake failed for another reason than a certificate.',
  CONNECTION_LOST: 'The connection ended before the answer was complete.',
  PROTOCOL_VIOLATION: 'The answer breaks the rules of its protocol.',
  REDIRECT_PROBLEM: 'The redirects lead nowhere, or elsewhere than wanted.',
  ACCESS_DENIED: 'The server wants credentials, or refuses those that it got.',
  NOT_FOUND: 'The server has nothing at the address.',
  RATE_LIMITED: 'The server refuses because there were too many requests.',
  CLIENT_ERROR: 'The server refuses the request for another reason.',
  SERVER_ERROR: 'The server failed to do what was asked.',
  GATEWAY_ERROR: 'A proxy or load balancer got no good answer from the server behind it.',
  SERVICE_UNAVAILABLE: 'The server says that it cannot answer for now.',
  UNEXPECTED_CONTENT: 'An answer came, and is not what the assertions ask for.',
  UNEXPECTED_SUCCESS: 'The check is to fail (shouldFail), and the target answered.',
  TIMEOUT: 'A connection was there, and the answer did not come in time.',
  SLOW_RESPONSE: 'The answer is good and took longer than is allowed.',
  PACKET_LOSS: 'Echo requests were lost.',
  CHECK_CONFIGURATION: 'A setting of the check or of the agent stopped it.',
  AGENT_PROBLEM: 'The agent failed or stopped; nothing is known of the target.',
  UNKNOWN: 'What is stored does not tell.',
} as const satisfies Record<string, string>;
export type Classification = keyof typeof CLASSIFICATIONS;

/** Who makes analyses: the rules of this build, or a model behind an OpenAI-compatible address. */
export const ANALYSIS_PROVIDERS = ['rules', 'openai'] as const;
export type AnalysisProvider = (typeof ANALYSIS_PROVIDERS)[number];

const MAX_TEXT = 4_000;
export const MAX_EVIDENCE = 40;
const MAX_ARTIFACTS = 100;
const MAX_LINKS = 10;

const sentence = z.string().min(1).max(MAX_TEXT);

/** src/service/README.md, "Root cause analyses", `analysis`. Whoever made it is held to it. */
export const analysisSchema = z.strictObject({
  classification: z.string().min(1).max(100).describe('What kind of failure it is, in a word.'),
  userImpact: sentence.describe('What those who use the target notice.'),
  rootCause: sentence.describe('Why it failed, as far as the evidence tells.'),
  codeFix: sentence.describe('What to do about it.'),
  evidence: z
    .array(
      z.strictObject({
        artifacts: z
          .array(
            z.strictObject({
              name: z.string().min(1).max(2048).describe('Where it is, or what it is named.'),
              type: z.string().min(1).max(100).describe('What it is.'),
            }),
          )
          .max(MAX_ARTIFACTS)
          .describe('What is stored and shows it.'),
        description: sentence,
      }),
    )
    .max(MAX_EVIDENCE)
    .describe('What the rest is concluded from.'),
  referenceLinks: z
    .array(
      z.strictObject({
        url: z
          .string()
          .max(2048)
          .regex(/^https?:\/\/[^\s]+$/),
        title: z.string().min(1).max(500),
      }),
    )
    .max(MAX_LINKS)
    .describe('Where to read more.'),
});
export type Analysis = z.infer<typeof analysisSchema>;
export type Evidence = Analysis['evidence'][number];
export type EvidenceArtifact = Evidence['artifacts'][number];
export type ReferenceLink = Analysis['referenceLinks'][number];

/** As ids of results and of error groups are. */
const anyId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/);

const provider = z
  .enum(ANALYSIS_PROVIDERS)
  .optional()
  .describe(
    'Who is to make it. Left out: the model where the service has one configured, else the rules.',
  );

const ofCheck = z.strictObject({
  checkId: z.string().regex(CHECK_ID).describe('The check whose failure is to be looked at.'),
  resultId: anyId
    .optional()
    .describe('One of its results that did not pass. Left out: its latest failure.'),
  provider,
});

const ofErrorGroup = z.strictObject({
  errorGroupId: anyId.describe('The error group whose latest failure is to be looked at.'),
  provider,
});

/** What is asked for: the analysis of a check's failure, or of an error group's. */
export const analysisRequestSchema = z.union([ofCheck, ofErrorGroup]);
export type AnalysisRequest = z.infer<typeof analysisRequestSchema>;
