import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Load, LoadFigures } from "./load.ts";

/** A process that sends requests until it is disconnected. */
export const openLoader = (): ChildProcess => fork(join(import.meta.dirname, "load.ts"));

/** Throws unless all answers had one of the expected statuses. */
export async function runLoad(
  loader: ChildProcess,
  load: Load,
  expected: readonly number[],
): Promise<LoadFigures> {
  loader.send(load);
  const [figures] = (await once(loader, "message")) as [LoadFigures];
  const wrong = figures.statuses.filter((status) => !expected.includes(status));
  if (wrong.length > 0) throw new Error(`${load.baseUrl} answered ${wrong}`);
  return figures;
}
