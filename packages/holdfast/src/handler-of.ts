import type { JobHandler as EngineHandler, JobContext as EngineContext } from '@holdfast/worker';
import { createJobContext } from './create-job-context.ts';
import type { ContextParts } from './create-job-context.ts';
import type { JobContext } from './job-context.ts';
import type { RunMiddleware } from './run-middleware.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validatePayload } from './validate-payload.ts';

/** A handler with what is known of its type. */
export interface RegisteredHandler<Tx> {
  readonly type: string;
  readonly schema: StandardSchema | undefined;
  readonly run: (payload: unknown, ctx: JobContext<Tx>) => unknown;
}

/** What the engine's handlers are made with. */
export interface HandlerParts<Tx> extends ContextParts<Tx> {
  readonly middleware: readonly RunMiddleware<Tx>[];
  /** Called before each run. */
  readonly onProcessing: (context: EngineContext) => void;
}

/** The handler as the engine calls it: middleware, then the schema, then the handler's own code. */
export function engineHandlerOf<Tx>(
  handler: RegisteredHandler<Tx>,
  parts: HandlerParts<Tx>,
): EngineHandler {
  const { middleware, onProcessing } = parts;
  const { type, schema, run } = handler;
  const runChecked =
    schema === undefined
      ? run
      : async (payload: unknown, ctx: JobContext<Tx>) =>
          run(await validatePayload(type, schema, payload), ctx);
  const chain = middleware.reduceRight<RegisteredHandler<Tx>['run']>(
    (next, layer) => (payload, ctx) =>
      layer({ payload, ctx }, async (...changed) =>
        next(changed.length > 0 ? changed[0] : payload, ctx),
      ),
    runChecked,
  );
  return (payload, context) => {
    onProcessing(context);
    return chain(payload, createJobContext(context, parts));
  };
}
