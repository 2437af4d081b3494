import { env } from "node:process";
import { EvmBatchProcessor } from "@subsquid/evm-processor";
import { TypeormDatabase } from "@subsquid/typeorm-store";
import { counterIncremented, orderFulfilled, transfer } from "./events.js";
import { Counter, Sale, Token, Transfer } from "./lib/model/index.js";

/** As its documentation has it: an RPC endpoint, blocks final after 75 others, hot blocks stored. */
const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url: env.PEER_RPC_URL })
  .setFinalityConfirmation(75)
  .setBlockRange({ from: Number(env.PEER_START_BLOCK) })
  .addLog({ topic0: [transfer.topic] })
  .addLog({
    address: ["0x0000000000000068f116a894984e2db1123eb395"],
    topic0: [orderFulfilled.topic, counterIncremented.topic],
  });

const database = new TypeormDatabase({
  supportHotBlocks: true,
  projectDir: import.meta.dirname,
});

processor.run(database, async (context) => {
  const rows = { transfers: [], counters: [], sales: [], tokens: new Map() };
  for (const block of context.blocks) for (const log of block.logs) collect(rows, block, log);
  await context.store.insert(rows.transfers);
  await context.store.insert(rows.counters);
  await context.store.insert(rows.sales);
  await context.store.upsert([...rows.tokens.values()]);
});

function collect(rows, { header: { height: number, hash } }, log) {
  const { logIndex } = log;
  const place = { id: `${hash}-${logIndex}`, number, hash, logIndex };
  if (transfer.is(log) && log.topics.length === 4) {
    const { from, to, tokenId } = transfer.decode(log);
    rows.transfers.push(new Transfer({ ...place, tokenId, from, to }));
    rows.tokens.set(`${tokenId}`, new Token({ id: `${tokenId}`, owner: to, number }));
  } else if (counterIncremented.is(log)) {
    rows.counters.push(new Counter(place));
  } else if (orderFulfilled.is(log)) {
    const { offerer, recipient, offer, consideration } = orderFulfilled.decode(log);
    const price = consideration.reduce((sum, { amount }) => sum + amount, 0n);
    const tokenId = offer[0]?.identifier ?? 0n;
    rows.sales.push(
      new Sale({ id: place.id, hash, tokenId, price, seller: offerer, buyer: recipient }),
    );
  }
}
