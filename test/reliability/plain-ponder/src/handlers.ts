import { parseAbi } from "viem";
import { collection, counter, sale, token, transfer } from "../ponder.schema.ts";
import { type Context, ponder } from "./registry.ts";

ponder.on("Erc721:Transfer", async ({ event, context }) => {
  const { from, to, tokenId } = event.args;
  const { number } = event.block;
  await context.db.insert(transfer).values({ ...placeOf(event), id: event.id, tokenId, from, to });
  await context.db
    .insert(token)
    .values({ tokenId, owner: to, number })
    .onConflictDoUpdate({ owner: to, number });
  await describe(context, event.log.address);
});

ponder.on("Exchange:CounterIncremented", async ({ event, context }) => {
  await context.db.insert(counter).values({ ...placeOf(event), id: event.id });
});

ponder.on("Exchange:OrderFulfilled", async ({ event, context }) => {
  const { offerer, recipient, offer, consideration } = event.args;
  const price = consideration.reduce((sum, { amount }) => sum + amount, 0n);
  await context.db.insert(sale).values({
    ...{ id: event.id, hash: event.block.hash, price, seller: offerer, buyer: recipient },
    tokenId: offer[0]?.identifier ?? 0n,
  });
});

type Place = { block: { number: bigint; hash: `0x${string}` }; log: { logIndex: number } };

const placeOf = ({ block: { number, hash }, log: { logIndex } }: Place) => ({
  ...{ number, hash, logIndex: BigInt(logIndex) },
});

/** Once for each collection; a call that fails has no text. */
async function describe({ db, client }: Context, address: `0x${string}`): Promise<void> {
  if ((await db.find(collection, { address })) !== null) return;
  const abi = parseAbi([
    "function name() view returns (string)",
    "function symbol() view returns (string)",
  ]);
  const read = (functionName: "name" | "symbol") =>
    client.readContract({ abi, address, functionName }).catch(() => null);
  const [name, symbol] = [await read("name"), await read("symbol")];
  await db.insert(collection).values({ address, name, symbol }).onConflictDoNothing();
}
