import { styleText } from 'node:util';

/** Shows what a start is doing, step by step, each with the time that it took. */
export interface Steps {
  /** Runs a step and prints `✔ title  detail  (1.2 s)`; the work gives the detail. */
  run(title: string, work: () => Promise<string>): Promise<void>;
  readonly warn: (message: string) => void;
  readonly note: (message: string) => void;
}

const titleWidth = 22;

/** Writes steps to a stream; on a terminal the step in hand is shown while it runs. */
export function createSteps(output: NodeJS.WriteStream): Steps {
  const isTerminal = output.isTTY;
  const paint = (style: 'green' | 'red' | 'yellow' | 'dim', text: string): string =>
    isTerminal ? styleText(style, text) : text;
  const line = (text: string): void => {
    output.write(`${text}\n`);
  };
  const clear = (): void => {
    if (isTerminal) output.write('\r\x1b[2K');
  };
  return {
    async run(title, work) {
      const startedMs = performance.now();
      if (isTerminal) output.write(`… ${title}`);
      try {
        const detail = await work();
        clear();
        const took = paint('dim', `(${secondsSince(startedMs)})`);
        line(`${paint('green', '✔')} ${title.padEnd(titleWidth)} ${detail}  ${took}`);
      } catch (error) {
        clear();
        line(`${paint('red', '✘')} ${title}`);
        throw error;
      }
    },
    warn: (message) => {
      clear();
      line(`${paint('yellow', '!')} ${message}`);
    },
    note: line,
  };
}

function secondsSince(startedMs: number): string {
  return `${((performance.now() - startedMs) / 1_000).toFixed(1)} s`;
}
