import { expect } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { allProjections } from "#projections/all.ts";
import type { Database } from "#projections/log/database.ts";
import { dumpFacts, dumpState, replayChain } from "../chain/chain-replay.ts";
import type { Market } from "../chain/market.ts";
import { createProjections, project } from "./given.ts";
import { until } from "./pipeline.ts";
import { createDatabase } from "./postgres.ts";

type State = { facts: string[]; state: string[] };

/** What a database would hold that had only ever seen the chains as they are now. */
async function replayed(markets: readonly Market[]): Promise<State> {
  const fresh = await createDatabase({ template: "projected" });
  try {
    for (const { client, anvil } of markets) await replayChain(fresh.db, client, anvil.chainId);
    const projections = allProjections({ feeRecipient: accounts.feeRecipient });
    const targets = await createProjections(fresh.db, projections);
    await project(fresh.db, targets);
    return { facts: await dumpFacts(fresh.db), state: await dumpState(fresh.db) };
  } finally {
    await fresh.drop();
  }
}

/** Waits until the effective facts and derived rows equal a replay of the chains; a timeout shows the difference. */
export async function untilCanonical(
  db: Database,
  markets: readonly Market[],
  withinMs = 300_000,
): Promise<void> {
  const expected = await replayed(markets);
  const actual = async (): Promise<State> => ({
    facts: await dumpFacts(db),
    state: await dumpState(db),
  });
  const equals = async () => JSON.stringify(await actual()) === JSON.stringify(expected);
  await until("the canonical state", equals, withinMs).catch(() => undefined);
  expect(await actual()).toEqual(expected);
}
