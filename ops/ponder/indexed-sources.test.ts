import { type AbiEvent, concat, encodeAbiParameters, type Hex, pad, toEventSelector } from "viem";
import { describe, expect, it } from "vitest";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { ethereum } from "#chains/ethereum.ts";
import type { CuratedCollection } from "#projections/collections/facts.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import { eventKinds } from "#projections/log/fact-kinds.ts";
import type { ChainConfig } from "../config/config.ts";
import {
  decodeArguments,
  indexedSources,
  metadataShapes,
  plainSources,
  sourceFilters,
} from "./indexed-sources.ts";
import { schemaName } from "./ponder-schema.ts";

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

/** Those whose events are stored as they are. */
const otherSources = exchanges
  .filter(({ factKinds }) => factKinds === undefined)
  .flatMap(({ sources }) => sources);

const sourceNamed = (wanted: string, ...config: Parameters<typeof indexedSources>) =>
  indexedSources(...config).sources.find(({ name }) => name === wanted);

describe("indexedSources", () => {
  it("reads transfers from the chain's oldest curated contract on, exchanges from their deployment", () => {
    const { chainId, sources } = indexedSources(chain(), curated(old, elsewhere));
    const fromBlock = ethereum.exchanges.seaport.Seaport.firstBlock;
    expect(chainId).toBe(1);
    const read = sources.map(({ name, firstBlock }) => [name, firstBlock]);
    for (const exchange of otherSources) {
      const deployment = exchange.deployed(ethereum);
      if (deployment) expect(read).toContainEqual([exchange.name, deployment.firstBlock]);
    }
    expect(read.filter(([name]) => otherSources.every((other) => other.name !== name))).toEqual([
      ["Seaport", fromBlock],
      ["SeaportLegacy", fromBlock],
      ["Erc721", 100],
      ["Erc1155", 100],
      ["ConduitApproval", fromBlock],
      ["ExchangeApproval", fromBlock],
      ["Conduit", fromBlock],
      ["MetadataUpdates", 100],
      ["IndexedMetadataUpdates", 100],
    ]);
  });

  it("reads everything from the configured first block", () => {
    const { sources } = indexedSources(chain({ startBlock: 1_000 }), curated(old));
    expect(new Set(sources.map(({ firstBlock }) => firstBlock))).toEqual(new Set([1_000]));
  });

  it("adds configured collections to the curated ones, in one order", () => {
    const config = chain({ collections: [c, a] });
    expect(sourceNamed("Erc721", config, curated(old))?.addresses).toEqual([a, b, c]);
  });

  it("reads transfers of any contract where all collections are configured, and of none without one", () => {
    const all = sourceNamed("Erc1155", chain({ collections: "all" }), curated(old));
    expect(all?.addresses).toBeNull();
    expect(sourceNamed("Erc721", chain(), curated())).toBeUndefined();
  });

  it("maps every event that is no other exchange's to a kind with typed columns", () => {
    const { sources: all } = indexedSources(chain({ wrappedNativeEvents: "all" }), curated(old));
    const sources = [...all, ...plainSources([a], 0)];
    const mapped = Object.entries(eventKinds).flatMap(([source, kinds]) =>
      Object.keys(kinds).map((name) => `${source}:${name}`),
    );
    const indexed = sources.flatMap(({ name, events }) => {
      const isOther = otherSources.some((other) => other.name === name);
      const names = events.map((event) => `${name}:${event.name}`);
      return isOther ? names.filter((one) => mapped.includes(one)) : names;
    });
    const legacy = ["OrderCancelled", "OrderValidated", "CounterIncremented"];
    const unused = legacy.map((name) => `SeaportLegacy:${name}`);
    expect([...indexed, ...unused].toSorted()).toEqual(mapped.toSorted());
  });
});

describe("sourceFilters", () => {
  it("asks for as many topics as the event has indexed arguments, with the source's values", () => {
    const { sources } = indexedSources(chain(), curated(old));
    const filters = sourceFilters(sources).map(({ source, event, topics }) => {
      return [`${source.name}:${event.name}`, topics.slice(1)];
    });
    expect(Object.fromEntries(filters)).toMatchObject({
      "Seaport:OrdersMatched": [],
      "Erc721:Transfer": [null, null, null],
      "ConduitApproval:ApprovalForAll": [null, pad(commonConduit.address)],
      "ExchangeApproval:Approval": [null, pad(seaportAddresses["1.6"])],
    });
  });
});

describe("decodeArguments", () => {
  const id = (value: bigint) => encodeAbiParameters([{ type: "uint256" }], [value]);
  const both = (name: string) => metadataShapes.map(({ events }) => eventNamed(events, name));
  const eventNamed = (events: readonly AbiEvent[], wanted: string) => {
    const found = events.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`no event ${wanted}`);
    return found;
  };

  it("takes an ERC-4906 event by the number of its topics, its ids being data or topics", () => {
    const decoded = (name: string, topics: Hex[], data: Hex) =>
      both(name).map((event) =>
        decodeArguments(event, { topics: [toEventSelector(event), ...topics], data }),
      );
    const [one, range] = [{ tokenId: "7" }, { fromTokenId: "0", toTokenId: `${2n ** 256n - 1n}` }];
    const last = id(2n ** 256n - 1n);
    expect(decoded("MetadataUpdate", [], id(7n))).toEqual([one, null]);
    expect(decoded("MetadataUpdate", [id(7n)], "0x")).toEqual([null, one]);
    expect(decoded("MetadataUpdate", [], "0x")).toEqual([null, null]);
    expect(decoded("BatchMetadataUpdate", [], concat([id(0n), last]))).toEqual([range, null]);
    expect(decoded("BatchMetadataUpdate", [id(0n), last], "0x")).toEqual([null, range]);
    expect(decoded("BatchMetadataUpdate", [id(0n)], last)).toEqual([null, null]);
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
