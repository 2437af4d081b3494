/** Runs something for each item, at most so many at a time. Rejects with the first failure, and begins no more then. */
export async function runConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const open = [...items];
  const work = async () => {
    try {
      for (let item = open.shift(); item !== undefined; item = open.shift()) await run(item);
    } finally {
      open.length = 0;
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
}
