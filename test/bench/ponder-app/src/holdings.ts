import { type Address, zeroAddress } from "viem";
import { balance, collection, holder } from "../ponder.schema.ts";
import type { Context } from "./registry.ts";

/** Changes of a collection's figures by a transfer. */
type Change = { supply: number; holders: number };

export async function changeCollection(
  { db }: Context,
  address: Address,
  change: Change,
): Promise<void> {
  const none = { address, sales: 0, volume: 0n };
  await db
    .insert(collection)
    .values({ ...none, ...change })
    .onConflictDoUpdate((row) => ({
      supply: row.supply + change.supply,
      holders: row.holders + change.holders,
    }));
}

/** Adds a token id to a holder. Returns the change in the number of holders. */
export async function give({ db }: Context, collection: Address, owner: Address): Promise<0 | 1> {
  if (owner === zeroAddress) return 0;
  const { tokens } = await db
    .insert(holder)
    .values({ collection, owner, tokens: 1 })
    .onConflictDoUpdate((row) => ({ tokens: row.tokens + 1 }));
  return tokens === 1 ? 1 : 0;
}

/** Removes a token id from a holder. Returns the change in the number of holders. */
export async function take({ db }: Context, collection: Address, owner: Address): Promise<0 | -1> {
  if (owner === zeroAddress) return 0;
  const { tokens } = await db
    .update(holder, { collection, owner })
    .set((row) => ({ tokens: row.tokens - 1 }));
  return tokens === 0 ? -1 : 0;
}

type Units = { collection: Address; tokenId: bigint; owner: Address; units: bigint };

/** Adds units, which may be negative. Returns the change in the number of holders. */
export async function changeUnits(context: Context, change: Units): Promise<number> {
  const { collection, owner, units } = change;
  if (owner === zeroAddress || units === 0n) return 0;
  const row = await context.db
    .insert(balance)
    .values(change)
    .onConflictDoUpdate((before) => ({ units: before.units + units }));
  if (units > 0n) return row.units === units ? await give(context, collection, owner) : 0;
  return row.units === 0n ? await take(context, collection, owner) : 0;
}
