import { chainIds } from "../../../chains/index.ts";
import type { Step } from "../../simulation/script.ts";
import { type Copy, type Engine, postgresEngine, readCopy } from "./analytics-engines.ts";
import type { TestDatabase } from "./postgres.ts";

/** A database, what its copy is called, and the chains that it serves. */
export type CopiedCell = {
  readonly name: string;
  readonly database: TestDatabase;
  readonly serves: readonly number[];
};

/** Of a row of a view, as canonical text. */
function chainOf({ columns }: Copy, view: string, row: string): number | null {
  const at = columns.get(view)?.indexOf("chain_id") ?? -1;
  const chain = (JSON.parse(row) as (string | null)[])[at] ?? null;
  return chain === null ? null : Number(chain);
}

/** What one copy of all cells is to hold: the rows of each chain from the cell that serves it, and where its facts are. */
export async function readServed(cells: readonly CopiedCell[]): Promise<Map<string, string[]>> {
  const served = new Map<string, string[]>();
  const add = (view: string, rows: readonly string[]) =>
    served.set(view, [...(served.get(view) ?? []), ...rows].sort());
  for (const { name, database, serves } of cells) {
    const copy = await readCopy(postgresEngine(database.url));
    for (const [view, rows] of copy.rows) {
      const own = rows.filter((row) => {
        const chain = chainOf(copy, view, row);
        return chain === null ? view === "facts" : serves.includes(chain);
      });
      add(view, own);
      if (view === "facts")
        add(
          "places",
          own.map((row) => `${name}/${JSON.parse(row)[0]}`),
        );
    }
  }
  return served;
}

/** The same as an engine has it. */
export async function readHeld(engine: Engine): Promise<Map<string, string[]>> {
  const { rows } = await readCopy(engine);
  const places = await engine.asking((ask) => ask("select cell, position from facts"));
  return new Map([...rows, ["places", places.map((place) => place.join("/")).sort()]]);
}

/** What a step is in a cell: its own chains' part, and in each what is about no chain. */
export function stepIn({ serves }: Pick<CopiedCell, "serves">, step: Step): Step {
  const isServed = (chainId: number) => serves.includes(chainId);
  if (step.does === "append")
    return { ...step, events: step.events.filter(({ block }) => isServed(block.chainId)) };
  if (step.does !== "observe")
    return { ...step, blocks: step.blocks.filter(({ chainId }) => isServed(chainId)) };
  const known: readonly number[] = chainIds;
  const observations = step.observations.filter(
    ({ chainId }) => isServed(chainId) || !known.includes(chainId),
  );
  return { ...step, observations };
}
