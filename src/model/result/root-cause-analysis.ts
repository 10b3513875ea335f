import { z } from 'zod';
import { CHECK_ID } from '../ids.ts';

/** The classifications of the rules, with their meanings. */
export const CLASSIFICATIONS = {
  DNS_FAILURE: 'The name could not be resolved, or not to the expected records.',
  CONNECTION_FAILURE: 'The name was resolved, but no connection was established.',
  CERTIFICATE_PROBLEM: 'The certificate of the server is not trusted for the host.',
  CLIENT_CERTIFICATE_PROBLEM: 'The client certificate is missing, rejected or unusable.',
  TLS_FAILURE: 'The TLS handshake failed for a reason other than a certificate.',
  CONNECTION_LOST: 'The connection ended before the response was complete.',
  PROTOCOL_VIOLATION: 'The response violates its protocol.',
  REDIRECT_PROBLEM: 'The redirects lead nowhere, or to an unexpected target.',
  ACCESS_DENIED: 'The server requires credentials, or rejects those it received.',
  NOT_FOUND: 'The server found nothing at the URL.',
  RATE_LIMITED: 'The server rejects the request because there were too many.',
  CLIENT_ERROR: 'The server rejects the request for another reason.',
  SERVER_ERROR: 'The server failed to process the request.',
  GATEWAY_ERROR: 'A proxy or load balancer got no valid response from the server behind it.',
  SERVICE_UNAVAILABLE: 'The server reports that it is temporarily unavailable.',
  UNEXPECTED_CONTENT: 'A response came, but it does not meet the assertions.',
  UNEXPECTED_SUCCESS: 'The check expects a failure (shouldFail), but the target responded.',
  TIMEOUT: 'The connection was established, but the response did not come in time.',
  SLOW_RESPONSE: 'The response is correct but took longer than allowed.',
  PACKET_LOSS: 'Echo requests were lost.',
  CHECK_CONFIGURATION: 'A setting of the check or of the agent prevented the run.',
  AGENT_PROBLEM: 'The agent failed or stopped; nothing is known about the target.',
  UNKNOWN: 'The stored data does not show the cause.',
} as const satisfies Record<string, string>;
export type Classification = keyof typeof CLASSIFICATIONS;

/** Who makes analyses: built-in rules, or a model with an OpenAI-compatible API. */
export const ANALYSIS_PROVIDERS = ['rules', 'openai'] as const;
export type AnalysisProvider = (typeof ANALYSIS_PROVIDERS)[number];

const MAX_TEXT = 4_000;
export const MAX_EVIDENCE = 40;
const MAX_ARTIFACTS = 100;
const MAX_LINKS = 10;

const sentence = z.string().min(1).max(MAX_TEXT);

/** src/service/README.md, "Root cause analyses", `analysis`. Validates analyses of all providers. */
export const analysisSchema = z.strictObject({
  classification: z.string().min(1).max(100).describe('The kind of failure, in one word.'),
  userImpact: sentence.describe('What users of the target notice.'),
  rootCause: sentence.describe('Why the check failed, as far as the evidence shows.'),
  codeFix: sentence.describe('How to fix the cause.'),
  evidence: z
    .array(
      z.strictObject({
        artifacts: z
          .array(
            z.strictObject({
              name: z.string().min(1).max(2048).describe('The path or the name of the artifact.'),
              type: z.string().min(1).max(100).describe('The type of the artifact.'),
            }),
          )
          .max(MAX_ARTIFACTS)
          .describe('The stored artifacts that show it.'),
        description: sentence.describe('What it shows.'),
      }),
    )
    .max(MAX_EVIDENCE)
    .describe('The evidence for the conclusions.'),
  referenceLinks: z
    .array(
      z.strictObject({
        url: z
          .string()
          .max(2048)
          .regex(/^https?:\/\/[^\s]+$/)
          .describe('An http or https URL.'),
        title: z.string().min(1).max(500).describe('What is there.'),
      }),
    )
    .max(MAX_LINKS)
    .describe('Links to further information.'),
});
export type Analysis = z.infer<typeof analysisSchema>;
export type AnalysisEvidence = Analysis['evidence'][number];
export type EvidenceArtifact = AnalysisEvidence['artifacts'][number];
export type ReferenceLink = Analysis['referenceLinks'][number];

/** The id of a result or an error group. */
const anyId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/);

const provider = z
  .enum(ANALYSIS_PROVIDERS)
  .optional()
  .describe(
    'Who makes the analysis. If omitted: the model if the service has one configured, otherwise the rules.',
  );

const ofCheck = z.strictObject({
  checkId: z.string().regex(CHECK_ID).describe('The check whose failure is analysed.'),
  resultId: anyId
    .optional()
    .describe('A result of the check that did not pass. If omitted: its latest failure.'),
  provider,
});

const ofErrorGroup = z.strictObject({
  errorGroupId: anyId.describe('The error group whose latest failure is analysed.'),
  provider,
});

/** A request for the analysis of a check's failure, or of an error group's. */
export const analysisRequestSchema = z.union([ofCheck, ofErrorGroup]);
export type AnalysisRequest = z.infer<typeof analysisRequestSchema>;
