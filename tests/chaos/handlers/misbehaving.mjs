import { note, recorded } from './ledger.mjs';

const untouchable = new Proxy(
  {},
  Object.fromEntries(
    Object.getOwnPropertyNames(Reflect).map((trap) => [
      trap,
      () => {
        throw new Error(`The trap ${trap} was sprung`);
      },
    ]),
  ),
);

function circular() {
  const object = { name: 'circular' };
  object.self = object;
  return object;
}

/** Throws before it returns a promise. */
const throwing = (makeValue) => (_payload, context) => {
  note('start', context);
  throw makeValue();
};

const returning = (makeValue) => recorded(() => makeValue());

const never = new Promise(() => undefined);

/** Runs for ever unless something from outside ends the attempt. */
const stranded = (cause) => (_payload, context) => {
  note('start', context);
  cause();
  return never;
};

/** Returns in peace, and causes trouble in the next turn of the event loop. */
const afterwards = (cause) =>
  recorded(() => {
    setImmediate(cause);
    return 'in peace';
  });

function nested(levels) {
  let value = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

class HostileError extends Error {
  get message() {
    throw new Error('The message was read');
  }
  get stack() {
    throw new Error('The stack was read');
  }
}

export const handlers = {
  quick: recorded(() => process.pid),

  throws_undefined: throwing(() => undefined),
  throws_null: throwing(() => null),
  throws_symbol: throwing(() => Symbol('thrown')),
  throws_circular: throwing(circular),
  throws_proxy: throwing(() => untouchable),
  throws_hostile_error: throwing(() => new HostileError()),
  throws_huge_text: throwing(() => 'x'.repeat(5_000_000)),
  throws_huge_stack: throwing(() =>
    Object.assign(new Error('deep down'), { stack: 'Error: deep down\n\u0000'.repeat(3_000_000) }),
  ),
  throws_nul_text: throwing(() => new Error('a\u0000b\ud800c')),
  throws_coded_error: throwing(() => Object.assign(new Error('no disk'), { code: 'ENOSPC' })),
  throws_function: throwing(() => () => undefined),
  rejects_proxy: (_payload, context) => {
    note('start', context);
    return Promise.reject(untouchable);
  },
  rejects_twice: (_payload, context) => {
    note('start', context);
    return new Promise((_resolve, reject) => {
      reject(new Error('first'));
      reject(new Error('second'));
    });
  },
  rejects_and_rejects_elsewhere: (_payload, context) => {
    note('start', context);
    void Promise.reject(new Error('elsewhere'));
    return Promise.reject(new Error('here'));
  },
  throws_in_timer: stranded(() => {
    setTimeout(() => {
      throw new Error('in a timer');
    }, 1);
  }),
  throws_proxy_in_timer: stranded(() => {
    setTimeout(() => {
      throw untouchable;
    }, 1);
  }),
  rejects_unhandled: stranded(() => {
    void Promise.reject(new Error('nobody listens'));
  }),
  rejects_proxy_unhandled: stranded(() => {
    void Promise.reject(untouchable);
  }),
  emits_error: stranded(() => {
    setImmediate(() => process.emit('uncaughtException', new Error('emitted')));
  }),
  exits: (_payload, context) => {
    note('start', context);
    process.exit(0);
  },
  exits_in_timer: stranded(() => {
    setTimeout(() => process.exit(1), 1);
  }),

  throws_afterwards: afterwards(() => {
    throw new Error('afterwards');
  }),
  rejects_afterwards: afterwards(() => {
    void Promise.reject(untouchable);
  }),
  exits_afterwards: afterwards(() => {
    process.exit(3);
  }),
  leaks_timers: afterwards(() => {
    setInterval(() => undefined, 1_000);
  }),
  destroys_stdout: afterwards(() => {
    process.stdout.destroy();
    process.stderr.destroy();
  }),
  changes_exit_code: afterwards(() => {
    process.exitCode = 9;
  }),

  returns_undefined: returning(() => undefined),
  returns_bigint: returning(() => 12345678901234567890n),
  returns_map: returning(() => new Map([['key', 'value']])),
  returns_circular: returning(circular),
  returns_two_megabytes: returning(() => 'y'.repeat(2_000_000)),
  returns_infinity: returning(() => ({ big: JSON.parse('1e400'), huge: 10n ** 400n })),
  returns_lone_surrogates: returning(() => ['\ud800', '\udc00x', '😀']),
  returns_twenty_thousand_levels: returning(() => nested(20_000)),
  returns_two_thousand_levels: returning(() => nested(2_000)),
  returns_nul_text: returning(() => ({ 'k\u0000': 'a\u0000b\udfff' })),
  returns_function: returning(() => () => undefined),
  returns_symbol: returning(() => Symbol('returned')),
  returns_not_a_number: returning(() => [NaN, Infinity]),
  returns_hostile_json: returning(() => ({
    toJSON() {
      throw new Error('toJSON was called');
    },
  })),
  returns_deep_nesting: returning(() => nested(100_000)),
  returns_proxy: (_payload, context) => {
    note('start', context);
    return untouchable;
  },

  logs_oddly: recorded((_payload, { log, progress }) => {
    log.info('a\u0000b\ud800c', { 'k\u0000': '\udfff', n: 1n, map: new Map(), own: circular() });
    log.info('z'.repeat(2_000_000), { big: 'z'.repeat(2_000_000) });
    log.info(untouchable);
    log.info(undefined, { deep: nested(20_000) });
    log.warn(Symbol('said'), untouchable);
    log.error(new HostileError());
    progress(Number.NaN, '\u0000'.repeat(1_000));
    progress('half', circular());
  }),
  logs_without_end: recorded((_payload, { log }) => {
    for (let line = 0; line < 5_000; line += 1) log.debug(`line ${line}`);
  }),
  logs_much: recorded((_payload, { log }) => {
    for (let line = 0; line < 100; line += 1) log.debug('y'.repeat(7_000));
  }),
  releases_oddly: recorded((_payload, context) => {
    return context.job.executionSeq === 1
      ? context.release(-5, 'a\u0000b\ud800')
      : context.release(Infinity, circular());
  }),
};
