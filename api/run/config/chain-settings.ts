import { z } from "zod";
import { collectionList, onOff, setting, urlList, urlOf, wholeNumber } from "./setting.ts";

const blockNumber = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const finality = wholeNumber(1, 100_000);
const finalityMeaning = "number of blocks after which a block is treated as final";
const rpcUrl = (chain: string) =>
  setting(urlList("http:", "https:").optional(), {
    meaning: `JSON-RPC of ${chain}; several are comma-separated`,
    expectation: "http or https URLs, comma-separated",
    example: "https://rpc.example.com/key",
    fallback: "absent: local chains",
    secret: true,
  });
const wsUrl = (chain: string) =>
  setting(urlOf("ws:", "wss:").optional(), {
    meaning: `websocket of ${chain} for new block heads`,
    expectation: "a ws or wss URL, together with the chain's RPC_URL",
    example: "wss://rpc.example.com/key",
    fallback: "absent: polling",
    secret: true,
  });
const startBlock = (chain: string, example: string) =>
  setting(blockNumber.optional(), {
    meaning: `first indexed block of ${chain}`,
    expectation: "a block number",
    example,
    fallback:
      "deployment of the exchange; for transfers, deployment of the oldest curated contract; local chains: 0",
  });
const logsBlockRange = (chain: string) =>
  setting(wholeNumber(1, 100_000_000).optional(), {
    meaning: `block range of one eth_getLogs request on ${chain}`,
    expectation: "a number of blocks that every RPC of the chain accepts",
    example: "10000",
    fallback: "500, then adapted to what the RPC accepts",
  });
const wrappedNativeEvents = (currency: string, fallback: string) =>
  setting(z.enum(["all", "none"]).optional(), {
    meaning: `whether deposits, withdrawals and transfers of ${currency} are indexed (a row each); with none, bidders' balances are read as they change (a request to the node per block), and bids are as true`,
    expectation: "all or none",
    example: "all",
    fallback,
  });

/** The chains, and what is indexed of them. */
export const chainSettings = {
  RPC_URL_1: rpcUrl("Ethereum"),
  RPC_URL_33139: rpcUrl("ApeChain"),
  WS_URL_1: wsUrl("Ethereum"),
  WS_URL_33139: wsUrl("ApeChain"),
  START_BLOCK_1: startBlock("Ethereum", "19000000"),
  START_BLOCK_33139: startBlock("ApeChain", "1000000"),
  LOGS_BLOCK_RANGE_1: logsBlockRange("Ethereum"),
  LOGS_BLOCK_RANGE_33139: logsBlockRange("ApeChain"),
  COLLECTIONS_1: setting(collectionList.default([]), {
    meaning:
      "collections of Ethereum indexed in addition to the curated ones; `*`: every collection",
    expectation: "addresses, comma-separated, or *",
    example: "0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d",
    fallback: "none",
  }),
  COLLECTIONS_33139: setting(collectionList.default("*"), {
    meaning:
      "collections of ApeChain indexed in addition to the curated ones; `*`: every collection",
    expectation: "addresses, comma-separated, or *",
    example: "*",
    fallback: "`*`",
  }),
  CURATED_FILE: setting(z.string().min(1).optional(), {
    meaning: "JSON file of the curated collections",
    expectation: "a readable file",
    example: "/etc/orders/collections.json",
    fallback: "`abis/curated-collections.json`",
  }),
  WRAPPED_NATIVE_EVENTS_1: wrappedNativeEvents("WETH on Ethereum", "none; local chains: all"),
  WRAPPED_NATIVE_EVENTS_33139: wrappedNativeEvents("WAPE on ApeChain", "all"),
  INDEXER_PROCESSES: setting(z.enum(["shared", "separate"]).default("shared"), {
    meaning:
      "`shared`: what is indexed from the first start on has one indexer, and what a later start adds together has one; `separate`: every exchange, and every collection that is added, has its own, of 200 to 350 MB each",
    expectation: "shared or separate",
    example: "separate",
  }),
  FINALITY_1: setting(finality.default(64), {
    meaning: `${finalityMeaning} on Ethereum`,
    expectation: "a number of blocks, 1 to 100000",
    example: "64",
  }),
  FINALITY_33139: setting(finality.default(240), {
    meaning: `${finalityMeaning} on ApeChain`,
    expectation: "a number of blocks, 1 to 100000",
    example: "240",
  }),
  DEVNET_MARKET: setting(onOff.default(true), {
    meaning:
      "whether simulated people list, bid and trade on the local chains after their initial history",
    expectation: "on or off",
    example: "off",
    fallback: "on",
  }),
};
