import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { answeringFlags } from "#ops/programs.ts";
import type { Figure } from "../figure.ts";

export type PagesOptions = { scale: number; directory: string | null };

/** Every page of the market's site, in a process with the flags of an API's. */
export async function run({ scale, directory }: PagesOptions): Promise<Figure[]> {
  const child = fork(join(import.meta.dirname, "pages-process.ts"), {
    execArgv: [...answeringFlags],
  });
  child.send({ scale, directory } satisfies PagesOptions);
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`the process that measures pages exited with ${code}`);
  });
  const [figures] = (await Promise.race([once(child, "message"), failed])) as [Figure[]];
  failed.catch(() => {});
  child.disconnect();
  return figures;
}
