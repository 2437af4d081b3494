import { z } from "zod";
import type { Chain } from "#chains/chain.ts";
import { type ChainId, chainById, chainIds } from "#chains/index.ts";
import { collectionList, onOff, setting, urlList, urlOf, wholeNumber } from "./setting.ts";

const blockNumber = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/** The same setting of each chain: `<name>_<chain id>`. */
function ofEachChain<Name extends string, Schema>(name: Name, describe: (chain: Chain) => Schema) {
  const settings = chainIds.map((id) => [`${name}_${id}`, describe(chainById(id))]);
  return Object.fromEntries(settings) as Record<`${Name}_${ChainId}`, Schema>;
}

const rpcUrls = ofEachChain("RPC_URL", ({ name }) =>
  setting(urlList("http:", "https:").optional(), {
    meaning: `JSON-RPC of ${name}; several are comma-separated`,
    expectation: "http or https URLs, comma-separated",
    example: "https://rpc.example.com/key",
    fallback: "absent: local chains",
    secret: true,
  }),
);
const wsUrls = ofEachChain("WS_URL", ({ name }) =>
  setting(urlOf("ws:", "wss:").optional(), {
    meaning: `websocket of ${name} for new block heads`,
    expectation: "a ws or wss URL, together with the chain's RPC_URL",
    example: "wss://rpc.example.com/key",
    fallback: "absent: polling",
    secret: true,
  }),
);
const startBlocks = ofEachChain("START_BLOCK", ({ name }) =>
  setting(blockNumber.optional(), {
    meaning: `first indexed block of ${name}`,
    expectation: "a block number",
    example: "19000000",
    fallback:
      "deployment of the exchange; for transfers, deployment of the oldest curated contract; local chains: 0",
  }),
);
const logsBlockRanges = ofEachChain("LOGS_BLOCK_RANGE", ({ name }) =>
  setting(wholeNumber(1, 100_000_000).optional(), {
    meaning: `block range of one eth_getLogs request on ${name}`,
    expectation: "a number of blocks that every RPC of the chain accepts",
    example: "10000",
    fallback: "500, then adapted to what the RPC accepts",
  }),
);
const collections = ofEachChain("COLLECTIONS", ({ name, indexed }) => {
  const isAll = indexed.collections === "all";
  return setting(isAll ? collectionList.default("*") : collectionList.default([]), {
    meaning: `collections of ${name} indexed in addition to the curated ones; \`*\`: every collection`,
    expectation: "addresses, comma-separated, or *",
    example: isAll ? "*" : "0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d",
    fallback: isAll ? "`*`" : "none",
  });
});
const wrappedNativeEvents = ofEachChain("WRAPPED_NATIVE_EVENTS", ({ name, wrapped, indexed }) =>
  setting(z.enum(["all", "none"]).optional(), {
    meaning: `whether deposits, withdrawals and transfers of ${wrapped.symbol} on ${name} are indexed (a row each); with none, bidders' balances are read as they change (a request to the node per block), and bids are as true`,
    expectation: "all or none",
    example: "all",
    fallback: indexed.wrappedNativeEvents === "all" ? "all" : "none; local chains: all",
  }),
);
const finality = ofEachChain("FINALITY", ({ name, finalityBlocks }) =>
  setting(wholeNumber(1, 100_000).default(finalityBlocks), {
    meaning: `number of blocks after which a block is treated as final on ${name}`,
    expectation: "a number of blocks, 1 to 100000",
    example: `${finalityBlocks}`,
  }),
);

/** The chains, and what is indexed of them. */
export const chainSettings = {
  ...rpcUrls,
  ...wsUrls,
  ...startBlocks,
  ...logsBlockRanges,
  ...collections,
  CURATED_FILE: setting(z.string().min(1).optional(), {
    meaning: "JSON file of the curated collections",
    expectation: "a readable file",
    example: "/etc/orders/collections.json",
    fallback: "`abis/curated-collections.json`",
  }),
  ...wrappedNativeEvents,
  INDEXER_PROCESSES: setting(z.enum(["shared", "separate"]).default("shared"), {
    meaning:
      "`shared`: what is indexed from the first start on has one indexer, and what a later start adds together has one; `separate`: every exchange, and every collection that is added, has its own, of 200 to 350 MB each",
    expectation: "shared or separate",
    example: "separate",
  }),
  ...finality,
  DEVNET_MARKET: setting(onOff.default(true), {
    meaning:
      "whether simulated people list, bid and trade on the local chains after their initial history",
    expectation: "on or off",
    example: "off",
    fallback: "on",
  }),
};
