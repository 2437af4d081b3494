import { StandardMerkleTree } from "@openzeppelin/merkle-tree";
import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { makeSnapshot } from "#api/v1/snapshots/make-snapshot.ts";
import { readStoredHolders } from "#api/v1/snapshots/stored-snapshots.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import {
  historyContracts,
  historyHeights,
  playHistory,
  stopAt,
} from "#test/support/market-data/played-history.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [salesProjection({ feeRecipient }), ownershipProjection, collectionsProjection];
/** Two installations: one saw every branch, the other none that was taken back, and stopped at the block. */
const live = await openProjectedLog(projections);
const stopped = await openProjectedLog(projections);
afterAll(async () => {
  await live.drop();
  await stopped.drop();
});

async function setFinal(db: Database, number: number): Promise<void> {
  await sql`
    insert into ops.chain_finality (chain_id, number, said_by) values (1, ${number}, 'tag')
    on conflict (chain_id) do update set number = excluded.number`.execute(db);
}

async function snapshotOf(db: Database, contracts: readonly Address[], height: number) {
  const collections = contracts.map((collection) => ({ collection }));
  const terms = { chainId: 1, name: "law", minUnits: 1n, excluded: [] } as const;
  const asked = { ...terms, at: { block: BigInt(height) }, collections };
  const made = await makeSnapshot({ db, writer: db }, asked, 1);
  if (isRejection(made)) return made.rejected;
  const { createdAt: _, ...snapshot } = made.snapshot;
  const held = await readStoredHolders(db, snapshot.snapshotId, { limit: 1_000, after: null });
  return { ...snapshot, held: held.map(({ owner, units }) => [owner, units] as const) };
}

/** What the rows of a database say that was stopped at the block. */
async function heldNow(db: Database, contracts: readonly Address[]) {
  const { rows } = await sql<{ id: number }>`
    select contract_id as id from log.contract
    where address = any (array(select decode(a, 'hex') from unnest(${contracts.map((one) => one.slice(2))}::text[]) a))`.execute(
    db,
  );
  const ids = rows.map(({ id }) => id);
  const held = await readHolders(db, ids, { limit: 1_000, after: null });
  return new Map(held.map(({ owner, units }) => [owner, units]));
}

async function compare(contracts: readonly Address[], height: number): Promise<void> {
  const [ours, theirs] = [
    await snapshotOf(live.db, contracts, height),
    await snapshotOf(stopped.db, contracts, height),
  ];
  const about = [contracts.join(), height];
  if (typeof theirs === "string") {
    // A contract that is only seen later is not known there at all.
    expect([...about, theirs]).toEqual([
      ...about,
      expect.stringMatching(/snapshot_empty|not_found/),
    ]);
    expect(typeof ours).toBe("string");
    return;
  }
  expect([...about, ours]).toEqual([...about, theirs]);
  expect(new Map(theirs.held)).toEqual(await heldNow(stopped.db, contracts));
  const leaves = theirs.held.map(([owner, units]) => [owner, units]);
  expect(theirs.root).toBe(StandardMerkleTree.of(leaves, ["address", "uint256"]).root);
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "two installations have the same snapshot of a block, with reorgs before and after, seed %i",
  async (seed) => {
    const kept = await playHistory(live, randomFrom(seed));
    for (let height = 2; height <= historyHeights; height += 2) {
      await sql`truncate ops.holder_snapshot, ops.snapshot_holder, ops.order_budget`.execute(
        live.db,
      );
      await sql`truncate ops.holder_snapshot, ops.snapshot_holder, ops.order_budget`.execute(
        stopped.db,
      );
      await setFinal(live.db, height);
      await stopAt(stopped, height, kept);
      await setFinal(stopped.db, height);
      for (const contract of historyContracts) await compare([contract], height);
      await compare(historyContracts, height);
      const later = block(1, historyHeights + height, "later");
      const [contract] = historyContracts;
      const moved = { contract: contract ?? addressOf(60), tokenId: 1n } as const;
      const between = { from: addressOf(1), to: addressOf(2) } as const;
      await live.happens({
        kind: "erc721_transfer",
        block: later,
        logIndex: 0,
        ...moved,
        ...between,
      });
      if (height % 4 === 0) await live.retract(later);
    }
  },
);
