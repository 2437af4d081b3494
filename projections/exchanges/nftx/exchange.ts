import type { AbiEvent } from "viem";
import { nftxFactoryEvents, nftxNamedVaultEvents, nftxV2VaultEvents, nftxV3VaultEvents } from "#abis/nftx.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Vaults change NFTs into coins of their own and back: a sale where such coins are bought or sold with it. */
export const nftx: Exchange = {
  protocol: "nftx",
  marketplace: "nftx",
  sources: [
    factory("NftxV2Factory", nftxFactoryEvents),
    vaults("NftxV2", nftxV2VaultEvents),
    factory("NftxV3Factory", nftxFactoryEvents),
    factory("NftxV3NamedFactory", nftxNamedVaultEvents),
    vaults("NftxV3", nftxV3VaultEvents),
  ],
  tradesOf,
};

function factory(name: ExchangeSources["nftx"], events: readonly AbiEvent[]): ExchangeSource {
  return {
    name,
    events,
    eventsWithCall: [],
    deployed: ({ exchanges }) => exchanges.nftx?.[name] ?? null,
  };
}

function vaults(name: ExchangeSources["nftx"], events: readonly AbiEvent[]): ExchangeSource {
  const swaps = events.map((event) => event.name);
  return {
    name,
    events,
    eventsWithCall: swaps,
    eventsWithTransfers: swaps,
    deployed: ({ exchanges }) => exchanges.nftx?.[name] ?? null,
  };
}
