import type { AbiEvent } from "viem";
import { sudoswapV1FactoryEvents, sudoswapV1PoolEvents, sudoswapV2FactoryEvents, sudoswapV2PoolEvents } from "#abis/sudoswap.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const { erc721, erc1155, erc721WithRoyalty, erc1155WithRoyalty } = sudoswapV2PoolEvents;

/** Factories, and the pools that they create, which are known by `projections/log/recording/pools-and-punks.ts`. */
export const sudoswap: Exchange = {
  protocol: "sudoswap",
  marketplace: "sudoswap",
  sources: [
    factory("SudoswapV1Factory", sudoswapV1FactoryEvents),
    pools("SudoswapV1", sudoswapV1PoolEvents),
    factory("SudoswapV2Factory", sudoswapV2FactoryEvents),
    pools("SudoswapV2", erc721),
    pools("SudoswapV2Erc1155", erc1155),
    pools("SudoswapV2Royalty", erc721WithRoyalty),
    pools("SudoswapV2Erc1155Royalty", erc1155WithRoyalty),
  ],
  tradesOf,
};

function factory(name: ExchangeSources["sudoswap"], events: readonly AbiEvent[]): ExchangeSource {
  return {
    name,
    events,
    eventsWithCall: [],
    deployed: ({ exchanges }) => exchanges.sudoswap?.[name] ?? null,
  };
}

function pools(name: ExchangeSources["sudoswap"], events: readonly AbiEvent[]): ExchangeSource {
  const swaps = events.map((event) => event.name);
  return {
    name,
    events,
    eventsWithCall: swaps,
    eventsWithTransfers: swaps,
    deployed: ({ exchanges }) => exchanges.sudoswap?.[name] ?? null,
  };
}
