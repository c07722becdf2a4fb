import { readFileSync } from 'node:fs';
import { JobInput, ScheduleInput } from '@holdfast/contract';
import { jobStatuses } from '@holdfast/domain';
import { z } from 'zod';

const PlannedJob = z.strictObject({
  /** What the job shows, for people. */
  label: z.string(),
  repeat: z.int().min(1).max(1_000),
  job: z.custom<z.input<typeof JobInput>>((value) => JobInput.safeParse(value).success),
  /** The end that it must come to, and after how many attempts. */
  expect: z.strictObject({ status: z.enum(jobStatuses), attempts: z.int().min(1) }),
});

const DemoPlan = z.strictObject({
  jobs: z.array(PlannedJob).min(1),
  schedules: z.array(
    z.custom<z.input<typeof ScheduleInput>>((value) => ScheduleInput.safeParse(value).success),
  ),
});

/** Example jobs, as they are sent to the API, each with the end that it must come to. */
export type DemoPlan = z.output<typeof DemoPlan>;

/** One entry of the plan. */
export type PlannedJob = DemoPlan['jobs'][number];

/** Reads the plan; `{target}` in it stands for the address of the demo's web service. */
export function readDemoPlan(path: string, targetUrl: string): DemoPlan {
  const text = readFileSync(path, 'utf8').replaceAll('{target}', targetUrl);
  return DemoPlan.parse(JSON.parse(text));
}
