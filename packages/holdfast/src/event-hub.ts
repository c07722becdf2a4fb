import { OptionCheck, requireFunction } from './check-options.ts';
import { holdfastEvents } from './event-map.ts';
import type { HoldfastEvent, HoldfastEvents, HoldfastListener } from './event-map.ts';
import type { HoldfastLogger } from './logger.ts';

type AnyListener = (data: never) => unknown;

/** Tells listeners in this process what happens. */
export class EventHub {
  readonly #listeners = new Map<HoldfastEvent, Set<AnyListener>>();
  readonly #logger: HoldfastLogger;

  constructor(logger: HoldfastLogger) {
    this.#logger = logger;
  }

  /** Adds a listener; the function that it answers takes it away again. @throws OptionsInvalidError */
  on<Event extends HoldfastEvent>(event: Event, listener: HoldfastListener<Event>): () => void {
    const check = new OptionCheck('on');
    check.oneOf('the event', event, holdfastEvents);
    check.done();
    requireFunction(`on("${event}")`, 'listener', listener);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Whether anybody listens, for callers whose data costs something. */
  has(event: HoldfastEvent): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  /** Calls the listeners, one after the other, without waiting for what they return. */
  emit<Event extends HoldfastEvent>(event: Event, data: HoldfastEvents[Event]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      void this.#call(event, listener as HoldfastListener<Event>, data);
    }
  }

  async #call<Event extends HoldfastEvent>(
    event: Event,
    listener: HoldfastListener<Event>,
    data: HoldfastEvents[Event],
  ): Promise<void> {
    try {
      await listener(data);
    } catch (error) {
      this.#logger.error({ err: error, event }, 'event listener failed');
    }
  }
}
