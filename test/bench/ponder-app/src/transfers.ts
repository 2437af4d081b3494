import { type Address, zeroAddress } from "viem";
import { activity, token } from "../ponder.schema.ts";
import { changeCollection, changeUnits, give, take } from "./holdings.ts";
import { placeOf } from "./place.ts";
import { type Context, ponder } from "./registry.ts";

ponder.on("Erc721:Transfer", async ({ event, context }) => {
  const { from, to, tokenId } = event.args;
  const collection = event.log.address;
  const state = { owner: to, isBurned: to === zeroAddress };
  await context.db
    .insert(token)
    .values({ collection, tokenId, ...state })
    .onConflictDoUpdate(state);
  const left = await take(context, collection, from);
  const joined = await give(context, collection, to);
  const supply = supplyOf(from, to);
  await changeCollection(context, collection, { supply, holders: left + joined });
  await context.db.insert(activity).values({
    ...{ id: event.id, type: typeOf(from, to), collection, tokenId, quantity: 1n, from, to },
    ...placeOf(event),
  });
});

ponder.on("Erc1155:TransferSingle", async ({ event, context }) => {
  const { from, to, id, value } = event.args;
  const moved = { collection: event.log.address, from, to, tokenId: id, units: value };
  await moveUnits(context, moved);
  await context.db.insert(activity).values(unitsMoved(moved, event.id, placeOf(event)));
});

ponder.on("Erc1155:TransferBatch", async ({ event, context }) => {
  const { from, to, ids, values } = event.args;
  const collection = event.log.address;
  for (const [index, tokenId] of ids.entries()) {
    const moved = { collection, from, to, tokenId, units: values[index] ?? 0n };
    await moveUnits(context, moved);
    const id = `${event.id}-${index}`;
    await context.db.insert(activity).values(unitsMoved(moved, id, placeOf(event)));
  }
});

type Moved = {
  collection: Address;
  from: Address;
  to: Address;
  tokenId: bigint;
  units: bigint;
};

async function moveUnits(context: Context, moved: Moved): Promise<void> {
  const { collection, from, to, tokenId, units } = moved;
  const left = await changeUnits(context, { collection, tokenId, owner: from, units: -units });
  const joined = await changeUnits(context, { collection, tokenId, owner: to, units });
  await changeCollection(context, collection, { supply: 0, holders: left + joined });
}

function unitsMoved(moved: Moved, id: string, place: ReturnType<typeof placeOf>) {
  const { collection, from, to, tokenId, units } = moved;
  const type = typeOf(from, to);
  return { id, type, collection, tokenId, quantity: units, from, to, ...place };
}

function typeOf(from: Address, to: Address): string {
  if (from === zeroAddress) return "mint";
  return to === zeroAddress ? "burn" : "transfer";
}

function supplyOf(from: Address, to: Address): number {
  return Number(from === zeroAddress) - Number(to === zeroAddress);
}
