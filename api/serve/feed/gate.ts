export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so many through at once; the others wait in line. */
export function openGate(most: number): Gate {
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
