import type { Stored } from '@holdfast/worker';
import type { JobDefinition } from '../job-definition.ts';
import type { EnqueuedJob } from './enqueued-job.ts';
import { checkExpectation, findExpected, refuseExpected } from './expect-enqueued.ts';
import type { EnqueueExpectation, ExpectedPayload } from './expect-enqueued.ts';

/** What tests expect of the jobs that were enqueued, wherever those are kept. */
export abstract class EnqueueExpectations {
  /** Every job that was enqueued, oldest first. */
  protected abstract listEnqueued(): Promise<readonly EnqueuedJob[]>;

  /** Every job that was enqueued, in whatever way and whatever became of it, oldest first; with `job`, those of a type. */
  async enqueued<Input>(
    job?: JobDefinition<string, Input> | string,
  ): Promise<readonly EnqueuedJob<Stored<Input>>[]> {
    const type = typeof job === 'object' ? job.type : job;
    const jobs = await this.listEnqueued();
    const own = jobs.filter((each) => type === undefined || each.type === type);
    // As true as what the definition says of its payload.
    return own as readonly EnqueuedJob<Stored<Input>>[];
  }

  /**
   * Makes sure that a job was enqueued whose payload has these parts, and gives those that are so.
   *
   * @throws AssertionError of Node that lists what was enqueued instead
   */
  async expectEnqueued<Input>(
    job: JobDefinition<string, Input> | string,
    payload?: ExpectedPayload<NoInfer<Input>>,
    options: EnqueueExpectation = {},
  ): Promise<readonly EnqueuedJob<Stored<Input>>[]> {
    checkExpectation('expectEnqueued', options);
    const found = findExpected({ jobs: await this.listEnqueued(), job, payload, options });
    // As above.
    return found as readonly EnqueuedJob<Stored<Input>>[];
  }

  /**
   * Makes sure that no job was enqueued whose payload has these parts.
   *
   * @throws AssertionError of Node that lists those that were
   */
  async expectNotEnqueued<Input>(
    job: JobDefinition<string, Input> | string,
    payload?: ExpectedPayload<NoInfer<Input>>,
    options: Omit<EnqueueExpectation, 'times'> = {},
  ): Promise<void> {
    checkExpectation('expectNotEnqueued', options);
    refuseExpected({ jobs: await this.listEnqueued(), job, payload, options });
  }
}
