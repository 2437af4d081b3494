import type { AbiEvent } from "viem";
import {
  nftxFactoryEvents,
  nftxNamedVaultEvents,
  nftxV2VaultEvents,
  nftxV3VaultEvents,
} from "../../../abis/nftx.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { factories, tradesOf } from "./trades.ts";

const firstBlocks = { "2": 12_600_000, "3": 18_600_000 };

/** Vaults change NFTs into coins of their own and back: a sale where such coins are bought or sold with it. */
export const nftx: Exchange = {
  protocol: "nftx",
  marketplace: "nftx",
  sources: [
    factory("NftxV2Factory", nftxFactoryEvents, "2"),
    vaults("NftxV2", nftxV2VaultEvents, "2"),
    factory("NftxV3Factory", nftxFactoryEvents, "3"),
    factory("NftxV3NamedFactory", nftxNamedVaultEvents, "3"),
    vaults("NftxV3", nftxV3VaultEvents, "3"),
  ],
  tradesOf,
};

function factory(name: string, events: readonly AbiEvent[], version: "2" | "3"): ExchangeSource {
  const deployment = { addresses: [factories[version]], firstBlock: firstBlocks[version] };
  return { name, events, eventsWithCall: [], chains: { 1: deployment } };
}

function vaults(name: string, events: readonly AbiEvent[], version: "2" | "3"): ExchangeSource {
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
