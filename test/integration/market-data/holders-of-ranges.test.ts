import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { holderKey, keyOfHolder } from "#api/v1/collections/holders.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readHolderGroups, readHolders } from "#projections/tokens/read-holders.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection]);
const { db } = book;
afterAll(() => book.drop());

const everyId = 2n ** 256n - 1n;
const [alice, bob] = [addressOf(1), addressOf(2)];

it("holders of more ids than a bigint counts are paged and counted, over several contracts", async () => {
  await book.clear();
  const range = { kind: "erc721_consecutive_transfer", tokenId: 0n } as const;
  const owned = [
    { contract: addressOf(50), to: alice, amount: everyId },
    { contract: addressOf(51), to: alice, amount: everyId },
    { contract: addressOf(52), to: bob, amount: 2n ** 70n },
  ];
  await book.happens(
    ...owned.map((one, logIndex) => ({ ...range, ...one, block: block(1, 1), logIndex })),
  );
  const { rows: contracts } = await sql<{ id: number }>`
    select contract_id as id from log.contract`.execute(db);
  const ids = contracts.map(({ id }) => id);

  const [first] = await readHolders(db, ids, { limit: 1, after: null });
  if (first === undefined) throw new Error("nobody holds anything");
  const after = holderKey.parse(keyOfHolder(first).map(String));
  const next = await readHolders(db, ids, { limit: 5, after });

  expect(first).toEqual({ owner: alice, tokens: 2n * everyId, units: 2n * everyId });
  expect(next).toEqual([{ owner: bob, tokens: 2n ** 70n, units: 2n ** 70n }]);
  expect(await readHolderGroups(db, ids, [1, 101])).toEqual([
    { from: 101, holders: 2n, tokens: 2n * everyId + 2n ** 70n },
  ]);
});
