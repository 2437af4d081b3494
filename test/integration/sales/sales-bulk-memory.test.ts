import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import type { TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dumpTable,
  project,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { soldOnLooksrare } from "#test/support/market-data/exchange-sales.ts";
import { transferred } from "#test/support/orders/order-facts.ts";
import { testFee } from "#test/support/orders/test-market.ts";

const [apes, alice, bob, carol] = [1, 2, 3, 4].map(addressOf) as [
  ...[`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`],
];
const projection = salesProjection({ feeRecipient: testFee.recipient });
const moves = 1_000;
const bulkTransfers = 20_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Sales of one transaction, each stored with the same transfers: those of the sales, and of other tokens. */
function sweep(nth: number, sales: number): ChainEvent[] {
  const at = block(1, 100 + nth);
  const sold = Array.from({ length: sales }, (_, index) =>
    soldOnLooksrare(
      { contract: apes, tokenId: BigInt(index), seller: alice, buyer: bob, priceWei: 10n },
      { at, log: index * 10 },
    ),
  );
  const own = sold.flatMap(({ payload }) => (payload as { transfers: TokenTransfer[] }).transfers);
  const others = Array.from({ length: moves - own.length }, (_, index): TokenTransfer => {
    const token = { standard: "erc721" as const, contract: apes, tokenId: `${5_000 + index}` };
    return { ...token, logIndex: 10_000 + index, amount: "1", from: alice, to: carol };
  });
  const transfers = [...own, ...others];
  return sold.map((one) => ({
    ...{ ...one, transactionIndex: 0 },
    payload: { ...(one.payload as object), transfers },
  }));
}

/** The most transfers that one statement returns. */
function countTransfers(): { plugin: KyselyPlugin; most: () => number } {
  let most = 0;
  const held = (row: unknown) =>
    (row as { payload?: { transfers?: unknown[] } | null }).payload?.transfers?.length ?? 0;
  return {
    plugin: {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        most = Math.max(
          most,
          result.rows.reduce<number>((sum, row) => sum + held(row), 0),
        );
        return result;
      },
    },
    most: () => most,
  };
}

it("a rebuild reads transfers of transactions in parts, and makes the sales of ticks", async () => {
  const { db } = database;
  const minted = transferred(
    { contract: apes, tokenId: 1n, from: addressOf(9), to: alice },
    { at: block(1, 5), log: 1 },
  );
  const sweeps = Array.from({ length: 60 }, (_, nth) => sweep(nth, nth % 10 === 0 ? 30 : 1));
  await appendEvents(db, [minted, ...sweeps.flat()]);
  await project(db, [await createProjection(db, projection)]);

  const { plugin, most } = countTransfers();
  await deriveInBulk(db.withPlugin(plugin), { projection, schema: "sales_shadow" });
  expect(most()).toBeGreaterThanOrEqual(moves);
  expect(most()).toBeLessThanOrEqual(bulkTransfers + moves);
  const dump = (schema: string) =>
    Promise.all(
      ["sale", "unresolved_event", "total"].map((table) => dumpTable(db, `${schema}.${table}`)),
    );
  const rebuilt = await dump("sales_shadow");
  expect(rebuilt[0]).toHaveLength(54 + 6 * 30);
  expect(rebuilt).toEqual(await dump(schemaOf("sales")));
});
