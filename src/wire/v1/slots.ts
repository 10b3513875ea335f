import { z } from 'zod';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import { DAY_MS } from '../../model/time-units.ts';
import { MAX_STRIDE } from './limits.ts';

/** An assignment is due at the slots k with k mod stride = index. */
export const rotationRuleSchema = z
  .object({
    periodMs: z.int().min(1000).max(DAY_MS),
    phaseMs: z.int().min(0).max(DAY_MS),
    stride: z.int().min(1).max(MAX_STRIDE),
    index: z.int().min(0).max(MAX_STRIDE),
  })
  .superRefine(({ periodMs, phaseMs, stride, index }, context) => {
    if (phaseMs >= periodMs) {
      context.addIssue({ code: 'custom', path: ['phaseMs'], message: 'must be under periodMs' });
    }
    if (index >= stride) {
      context.addIssue({ code: 'custom', path: ['index'], message: 'must be under stride' });
    }
  }) satisfies z.ZodType<RotationRule>;
