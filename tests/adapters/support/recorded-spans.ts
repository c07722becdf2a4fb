import { context, propagation, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';

/** OpenTelemetry's SDK, set up as applications do it, with everything that it is told. */
export class RecordedSpans {
  readonly #exporter = new InMemorySpanExporter();
  readonly #provider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#exporter)],
  });

  constructor() {
    this.#provider.register();
  }

  /** What has ended so far, in this order. */
  get all(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** The spans with a name, in the order in which they ended. */
  named(name: string): readonly ReadableSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  /** The only span with a name. */
  only(name: string): ReadableSpan {
    const [span, ...others] = this.named(name);
    if (span === undefined || others.length > 0) {
      const names = this.all.map((each) => each.name).join(', ');
      throw new Error(`${String(others.length)} others besides ${name} among ${names}`);
    }
    return span;
  }

  /** Forgets what there was. */
  reset(): void {
    this.#exporter.reset();
  }

  /** As if there were no SDK in the process. */
  async stop(): Promise<void> {
    trace.disable();
    context.disable();
    propagation.disable();
    await this.#provider.shutdown();
  }
}

/** Runs work in a span of the application's own. */
export async function inSpan<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return trace.getTracer('application').startActiveSpan(name, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

/** Runs work with a piece of baggage. */
export async function withBaggage<Result>(
  entries: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const values = Object.entries(entries).map(([key, value]) => [key, { value }] as const);
  const baggage = propagation.createBaggage(Object.fromEntries(values));
  return context.with(propagation.setBaggage(context.active(), baggage), work);
}

/** What the baggage of the running code says. */
export function baggageOf(key: string): string | undefined {
  return propagation.getActiveBaggage()?.getEntry(key)?.value;
}
