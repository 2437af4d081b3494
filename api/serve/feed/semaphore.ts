export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Runs at most `most` tasks at a time; the others wait in order. */
export function openSemaphore(most: number): Semaphore {
  const line: (() => void)[] = [];
  let inside = 0;
  return async (work) => {
    if (inside >= most) await new Promise<void>((enter) => line.push(enter));
    else inside += 1;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
