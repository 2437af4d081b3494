import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Point, resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { readPastHolders } from "#projections/tokens/read-past-holders.ts";
import { readPastToken } from "#projections/tokens/read-past-token.ts";
import { readPastWalletTokens } from "#projections/tokens/read-past-wallet.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { readWalletTokens, type WalletToken } from "#projections/tokens/read-wallet-tokens.ts";
import { verifyPastHolders } from "#projections/tokens/verify-past-holders.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  historyContracts,
  historyHeights,
  historyPeople,
  playHistory,
  stopAt,
} from "#test/support/market-data/played-history.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [ownershipProjection, collectionsProjection];
const live = await openProjectedLog(projections);
/** What a database is that was stopped at a block: it has the blocks up to it alone. */
const stopped = await openProjectedLog(projections);
afterAll(async () => {
  await live.drop();
  await stopped.drop();
});

async function contractIds(db: Database): Promise<Map<Address, number>> {
  const { rows } = await sql<{ address: Address; id: number }>`
    select address, contract_id as id from log.contract`.execute(db);
  return new Map(rows.map(({ address, id }) => [address, id]));
}

async function pointAt(height: number): Promise<Point> {
  const point = await resolvePoint(live.db, 1, { block: BigInt(height) });
  if (isRejection(point)) throw new Error(point.message);
  return point;
}

const all = { limit: 1_000, after: null };

async function compareContract(contract: Address, point: Point): Promise<void> {
  const [now, then] = [await contractIds(live.db), await contractIds(stopped.db)];
  const [ours, theirs] = [now.get(contract) ?? 0, then.get(contract) ?? 0];
  const expected = await readHolders(stopped.db, [theirs], all);
  const found = await readPastHolders(live.db, [ours], point, all);
  const about = [contract, point.block];
  expect([...about, found.rows]).toEqual([...about, expected]);
  expect(found.total).toBe(BigInt(expected.length));
  for (let id = 1n; id <= 10n; id += 1n) {
    const token = await readPastToken(live.db, [ours], id, point);
    const { heldBy: _, ...row } = token ?? { heldBy: [] };
    const stored = await readToken(stopped.db, [theirs], id);
    const own = stored === null ? {} : { ...stored, contractId: ours };
    expect([...about, id, row]).toEqual([...about, id, own]);
  }
}

async function compareWallet(wallet: Address, point: Point): Promise<void> {
  const filter = { chainId: 1, wallet, contractIds: null };
  const named = async (db: Database, tokens: readonly WalletToken[]) => {
    const addresses = new Map([...(await contractIds(db))].map(([address, id]) => [id, address]));
    return tokens
      .map((one) => `${addresses.get(one.contractId)} ${one.tokenId} ${one.standard} ${one.units}`)
      .toSorted();
  };
  const expected = await readWalletTokens(stopped.db, filter, all);
  const found = await readPastWalletTokens(live.db, filter, point, all);
  const about = [wallet, point.block];
  expect([...about, await named(live.db, found)]).toEqual([
    ...about,
    await named(stopped.db, expected),
  ]);
  const paged: WalletToken[] = [];
  for (let after: WalletToken | null = null; ; ) {
    const page = await readPastWalletTokens(live.db, filter, point, { limit: 2, after });
    paged.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < 2) break;
  }
  expect(paged).toEqual(found);
}

it.each(seedsOf([1, 2, 3, 4, 5, 6], 2))(
  "every block's past is what a database has that was stopped there, whatever was taken back, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const kept = await playHistory(live, random);
    for (let height = 1; height <= historyHeights; height += 1) {
      await stopAt(stopped, height, kept);
      const point = await pointAt(height);
      for (const contract of historyContracts) await compareContract(contract, point);
      for (const person of historyPeople) await compareWallet(person, point);
      const verified = await verifyPastHolders(live.db, point, { maxExamples: 5 });
      expect(verified).toMatchObject({ different: 0, examples: [], tooLarge: 0 });
    }
  },
);
