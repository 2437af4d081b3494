import { describe, expect, it } from "vitest";
import { seaportDeploymentBlock } from "../../../abis/deployments.ts";
import type { CuratedCollection } from "../../../projections/facts/collection-registered.ts";
import type { ChainConfig } from "../config/config.ts";
import { indexedSources } from "./indexed-sources.ts";
import { schemaName } from "./schema-name.ts";

const a = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const b = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const c = "0xcccccccccccccccccccccccccccccccccccccccc";
const named = { slug: "s", name: "S", verified: true };
const old: CuratedCollection = {
  ...named,
  chainId: 1,
  primary: b,
  contracts: [b, a],
  fromBlock: 100,
};
const elsewhere: CuratedCollection = {
  ...named,
  chainId: 33139,
  primary: c,
  contracts: [c],
  fromBlock: 5,
};
const chain = (changed: Partial<ChainConfig> = {}): ChainConfig => ({
  chainId: 1,
  rpcUrls: ["http://127.0.0.1:1"],
  wsUrl: null,
  startBlock: null,
  logsBlockRange: null,
  finalityBlocks: 64,
  collections: [],
  wrappedNativeEvents: "none",
  ...changed,
});
const curated = (...collections: CuratedCollection[]) => ({ file: "", collections });

describe("indexedSources", () => {
  it("reads transfers from the chain's oldest curated contract on, the exchange from its start", () => {
    expect(indexedSources(chain(), curated(old, elsewhere))).toEqual({
      chainId: 1,
      startBlock: seaportDeploymentBlock[1],
      transfersStartBlock: 100,
      collections: [a, b],
      wrappedNative: "none",
    });
  });

  it("reads everything from the first block named, where one is", () => {
    const sources = indexedSources(chain({ startBlock: 1_000 }), curated(old));
    expect([sources.startBlock, sources.transfersStartBlock]).toEqual([1_000, 1_000]);
  });

  it("adds configured collections to the curated ones, in one order", () => {
    const { collections } = indexedSources(chain({ collections: [c, a] }), curated(old));
    expect(collections).toEqual([a, b, c]);
  });

  it("takes every collection when told so", () => {
    expect(indexedSources(chain({ collections: "all" }), curated(old)).collections).toBe("*");
  });
});

describe("schemaName", () => {
  const name = (changed: Partial<ChainConfig>) =>
    schemaName(indexedSources(chain(changed), curated(old)), 0);

  it("is the chain's and a hash's, short enough for Ponder", () => {
    expect(name({})).toMatch(/^ponder_1_[0-9a-f]{8}$/);
    expect(name({ chainId: 33139 })).toMatch(/^ponder_33139_[0-9a-f]{8}$/);
  });

  it("stays when only RPCs, finality or the order of collections change", () => {
    const before = name({ collections: [c, a] });
    const rpcUrls = ["https://rpc.example.com"];
    expect(name({ collections: [a, c], rpcUrls, finalityBlocks: 5, logsBlockRange: 9 })).toBe(
      before,
    );
  });

  it("changes with every source", () => {
    const changes: Partial<ChainConfig>[] = [
      {},
      { startBlock: 999 },
      { collections: [c] },
      { collections: "all" },
      { wrappedNativeEvents: "all" },
      { chainId: 33139 },
    ];
    expect(new Set(changes.map(name)).size).toBe(changes.length);
  });
});
