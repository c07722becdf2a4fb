/** Does all the work, `count` parts of it at a time, in the order of the list. */
export async function takeTurns(
  work: readonly ((turn: number) => Promise<unknown>)[],
  count: number,
): Promise<void> {
  const left = work.values();
  const goOn = async (turn: number): Promise<void> => {
    for (const part of left) await part(turn);
  };
  await Promise.all(Array.from({ length: count }, (_, turn) => goOn(turn)));
}
