import type { AbiEvent } from "viem";
import {
  sudoswapFactories,
  sudoswapV1FactoryEvents,
  sudoswapV1PoolEvents,
  sudoswapV2FactoryEvents,
  sudoswapV2PoolEvents,
} from "../../../abis/sudoswap.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const { erc721, erc1155, erc721WithRoyalty, erc1155WithRoyalty } = sudoswapV2PoolEvents;
const firstBlocks = { "1": 14_600_000, "2": 17_300_000 };

/** Factories, and the pools that they create, which are known by `projections/log/recording/pool-events.ts`. */
export const sudoswap: Exchange = {
  protocol: "sudoswap",
  marketplace: "sudoswap",
  sources: [
    factory("SudoswapV1Factory", sudoswapV1FactoryEvents, "1"),
    pools("SudoswapV1", sudoswapV1PoolEvents, "1"),
    factory("SudoswapV2Factory", sudoswapV2FactoryEvents, "2"),
    pools("SudoswapV2", erc721, "2"),
    pools("SudoswapV2Erc1155", erc1155, "2"),
    pools("SudoswapV2Royalty", erc721WithRoyalty, "2"),
    pools("SudoswapV2Erc1155Royalty", erc1155WithRoyalty, "2"),
  ],
  tradesOf,
};

function factory(name: string, events: readonly AbiEvent[], version: "1" | "2"): ExchangeSource {
  const deployment = { addresses: [sudoswapFactories[version]], firstBlock: firstBlocks[version] };
  return { name, events, eventsWithCall: [], chains: { 1: deployment } };
}

function pools(name: string, events: readonly AbiEvent[], version: "1" | "2"): ExchangeSource {
  const swaps = events.map((event) => event.name);
  const deployment = { addresses: null, firstBlock: firstBlocks[version] };
  return {
    name,
    events,
    eventsWithCall: swaps,
    eventsWithTransfers: swaps,
    chains: { 1: deployment },
  };
}
