import { z } from 'zod';

/** One thing that is wrong with a request: where (a JSON pointer, or the name of a parameter or header) and what. */
export const ProblemItem = z.object({
  pointer: z.string().meta({ examples: ['/payload/url', '?limit'] }),
  detail: z.string(),
  code: z.string().optional(),
});

/** An error answer: RFC 9457 problem details with a stable code. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ examples: ['validation_failed'] }),
    detail: z.string().optional(),
    instance: z.string().optional(),
    requestId: z.string().optional(),
    errors: z.array(ProblemItem).readonly().optional(),
  })
  .meta({ id: 'Problem' });

/** An error answer. */
export type Problem = z.infer<typeof Problem>;
