import type {
  JobContext as EngineContext,
  JobHandler as EngineHandler,
  ThreadHandler,
} from '@holdfast/worker';
import { createJobContext } from './create-job-context.ts';
import type { ContextParts } from './create-job-context.ts';
import type { JobContext } from './job-context.ts';
import type { JobDefaults } from './job-definition.ts';
import type { JobOptions } from './job-options.ts';
import type { RunMiddleware } from './run-middleware.ts';
import { isPlain, readPayload } from './payload-versions.ts';
import type { PayloadContract } from './payload-versions.ts';

/** A handler with what is known of its type. */
export interface RegisteredHandler<Tx> extends PayloadContract {
  /** What its definition says of its jobs; nothing when it was named by its type alone. */
  readonly defaults: JobDefaults;
  /** The module whose definition runs in a thread, if it does. */
  readonly threadModule: string | URL | undefined;
  readonly run: (payload: unknown, ctx: JobContext<Tx>) => unknown;
}

/** What the engine's handlers are made with. */
export interface HandlerParts<Tx> extends ContextParts<Tx> {
  readonly middleware: readonly RunMiddleware<Tx>[];
  /** Called before each run. */
  readonly onProcessing: (context: EngineContext) => void;
}

// Threads run what is built, also when the worker runs from the sources.
const threadAdapter = new URL(
  import.meta.url.endsWith('.ts') ? '../dist/thread-adapter.js' : './thread-adapter.js',
  import.meta.url,
);

/** The handler as the engine calls it: middleware, then upgrades and the schema, then the handler's own code. */
export function engineHandlerOf<Tx>(
  handler: RegisteredHandler<Tx>,
  parts: HandlerParts<Tx>,
): EngineHandler | ThreadHandler {
  const { run, threadModule } = handler;
  if (threadModule !== undefined) {
    return {
      isolate: 'thread',
      module: threadModule,
      adapter: threadAdapter,
      calls: {
        enqueue: (_context, ...args) => {
          // What the adapter sends.
          const [child, payload, options] = args as [string, unknown, JobOptions];
          return parts.enqueue(child, payload, options);
        },
        parents: (context) => parts.relations.readParents(context.job.id),
        batch: ({ job: { batchId = '' } }) => parts.relations.batches.get(batchId),
        emit: (_context, ...args) => {
          const [event, data] = args as [string, unknown];
          return parts.emit(event, data);
        },
      },
      wrap: (inThread) => (payload, context) =>
        call((given) => inThread(given, context), { payload, context, parts }),
    };
  }
  const runChecked = isPlain(handler)
    ? run
    : async (payload: unknown, ctx: JobContext<Tx>) =>
        run(await readPayload(handler, payload, ctx.job.payloadVersion), ctx);
  return (payload, context) => call(runChecked, { payload, context, parts });
}

interface Call<Tx> {
  readonly payload: unknown;
  readonly context: EngineContext;
  readonly parts: HandlerParts<Tx>;
}

function call<Tx>(run: RegisteredHandler<Tx>['run'], { payload, context, parts }: Call<Tx>) {
  parts.onProcessing(context);
  const ctx = createJobContext(context, parts);
  const chain = parts.middleware.reduceRight<(payload: unknown) => unknown>(
    (next, layer) => (given) =>
      layer({ payload: given, ctx }, (...changed) =>
        settle(() => next(changed.length > 0 ? changed[0] : given)),
      ),
    (given) => run(given, ctx),
  );
  return chain(payload);
}

/** A handler may be no promise, and may throw at once. */
async function settle(run: () => unknown): Promise<unknown> {
  return await run();
}
