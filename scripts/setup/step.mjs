const isTerminal = process.stdout.isTTY === true;
// A log that is silent for longer than this looks like a hang.
const reminderEveryMs = 10_000;

/**
 * Runs one step and shows that it goes on: a running clock on a terminal, a line now and then in a
 * log, and at the end the time that it took.
 */
export async function step(title, work) {
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);
  const show = () => {
    if (isTerminal) process.stdout.write(`\r… ${title} (${seconds()} s) `);
    else console.log(`… ${title} (${seconds()} s)`);
  };
  if (isTerminal) show();
  else console.log(`… ${title}`);
  const ticker = setInterval(show, isTerminal ? 500 : reminderEveryMs);
  try {
    const result = await work();
    console.log(`${isTerminal ? '\r' : ''}✔ ${title} (${seconds()} s)   `);
    return result;
  } catch (error) {
    console.log(`${isTerminal ? '\r' : ''}✘ ${title} (${seconds()} s)   `);
    throw error;
  } finally {
    clearInterval(ticker);
  }
}
