import { z } from 'zod';
import {
  type Analysis,
  analysisSchema,
  type EvidenceArtifact,
  MAX_EVIDENCE,
} from '../../../model/result/root-cause-analysis.ts';

/** The part of a chat completion that is used. */
const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

const { classification, userImpact, rootCause, codeFix, referenceLinks } = analysisSchema.shape;

/** The analysis of a model; other fields are dropped. */
const answerSchema = z.object({
  classification,
  userImpact,
  rootCause,
  codeFix,
  evidence: z
    .array(
      z.object({
        description: z.string().min(1).max(4000),
        artifacts: z.array(z.string().max(200)).max(100).default([]),
      }),
    )
    .max(MAX_EVIDENCE),
  referenceLinks: referenceLinks.default([]),
});

export type ModelAnswer =
  | { readonly ok: true; readonly analysis: Analysis }
  | { readonly ok: false; readonly problem: string };

/**
 * The analysis in a chat completion, or why there is none.
 *
 * @param artifacts by alias; unknown aliases are dropped
 */
export function readModelAnswer(
  bytes: Buffer,
  artifacts: ReadonlyMap<string, EvidenceArtifact>,
): ModelAnswer {
  const completion = completionSchema.safeParse(parsed(bytes.toString('utf8')));
  const content = completion.success ? completion.data.choices[0]?.message.content : undefined;
  if (content === undefined) return { ok: false, problem: 'it is not a chat completion' };
  const answer = answerSchema.safeParse(parsed(content));
  if (!answer.success) {
    const [issue] = answer.error.issues;
    const where = issue?.path.map(String).join('.') ?? '';
    const what = where === '' ? 'is not a JSON object of that form' : `is off at ${where}`;
    return { ok: false, problem: `its analysis ${what}` };
  }
  const { evidence, ...rest } = answer.data;
  return {
    ok: true,
    analysis: {
      ...rest,
      evidence: evidence.map(({ description, artifacts: names }) => ({
        description,
        artifacts: [...new Set(names)].flatMap((name) => artifacts.get(name) ?? []),
      })),
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
