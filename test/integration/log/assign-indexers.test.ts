import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChainConfig } from "#ops/config/config.ts";
import { collectionEvents, indexedSources, metadataShapes } from "#ops/ponder/indexed-sources.ts";
import { assignIndexers, readFollowedCollections, readIndexers } from "#ops/ponder/indexers.ts";
import { schemaName } from "#ops/ponder/ponder-schema.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import type { Exchange } from "#projections/exchanges/model/exchange.ts";
import {
  addSources,
  detachRemoved,
  removeSource,
  restoreSource,
} from "#projections/log/sources.ts";
import { addressOf } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { bazaar } from "../sales/example-exchange/exchange.ts";

const [punks, apes, cats] = [50, 51, 52].map(addressOf) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const table = exchanges as Exchange[];
const built = [...table];
const chain: ChainConfig = {
  ...{ chainId: 33139, rpcUrls: [], wsUrl: null, startBlock: 0, logsBlockRange: null },
  ...{ finalityBlocks: 30, collections: [punks, apes], wrappedNativeEvents: "all" },
};
const curated = { collections: [] };
const metadataEvents = metadataShapes.map(({ name }) => name);
/** A further exchange of the chain. */
const fair: Exchange = {
  ...bazaar,
  protocol: "fair",
  sources: bazaar.sources.map((one) => ({ ...one, name: "Fair" })),
};

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  table.splice(0, table.length, ...built.slice(0, 1));
  await sql`truncate ops.source, ops.indexer`.execute(database.db);
});
afterEach(() => void table.splice(0, table.length, ...built));

async function start(
  changed: Partial<ChainConfig> = {},
  processes: "shared" | "separate" = "shared",
) {
  await assignIndexers(database.db, { chain: { ...chain, ...changed }, curated, processes });
  const indexers = await readIndexers(database.db, { ...chain, ...changed }, curated);
  for (const { name } of indexers) {
    await sql`
      insert into ops.indexer (chain_id, name, ponder_schema, started_at, caught_up_at)
      values (${chain.chainId}, ${name}, ${`schema ${name}`}, now(), now()) on conflict do nothing`.execute(
      database.db,
    );
  }
  return indexers;
}

type Indexers = Awaited<ReturnType<typeof start>>;

const namesOf = (indexers: Indexers) => indexers.map(({ name }) => name);
const schemaOf = (indexers: Indexers, wanted: string) => {
  const found = indexers.find(({ name }) => name === wanted);
  return found && schemaName(found.sources, 0);
};
const addressesOf = (
  indexers: Indexers,
  wanted: string,
  which: "sources" | "recorded" = "sources",
) =>
  indexers
    .find(({ name }) => name === wanted)
    ?.[which].sources.find(({ name }) => name === "Erc721")?.addresses;

describe("the first start", () => {
  it("has one indexer, of the schema that all sources together always had", async () => {
    table.push(bazaar);
    const indexers = await start();
    expect(namesOf(indexers)).toEqual(["core"]);
    expect(schemaOf(indexers, "core")).toBe(schemaName(indexedSources(chain, curated), 0));
    expect(await start()).toEqual(indexers);
  });

  it("has one for each exchange where they are separate", async () => {
    table.push(bazaar, fair);
    expect(namesOf(await start({}, "separate"))).toEqual(["core", "bazaar", "fair"]);
  });

  it("of this version keeps what an earlier one indexed, and indexes new exchanges apart", async () => {
    await sql`
      insert into ops.indexer (chain_id, ponder_schema, started_at) values (33139, 'before', now())`.execute(
      database.db,
    );
    const all = indexedSources(chain, curated);
    const earlier = all.sources.filter(({ name }) => !metadataEvents.includes(name));
    const before = schemaName({ ...all, sources: earlier }, 0);
    table.push(bazaar);
    const indexers = await start();
    expect(namesOf(indexers)).toEqual(["core", "bazaar"]);
    expect(schemaOf(indexers, "core")).toBe(before);
    const later = await start();
    expect(namesOf(later)).toEqual(["core", "bazaar", "added-1"]);
    expect(schemaOf(later, "core")).toBe(before);
  });
});

describe("a later start", () => {
  it("gives a new exchange an indexer and leaves the others as they are", async () => {
    const before = await start();
    table.push(bazaar);
    const after = await start();
    expect(namesOf(after)).toEqual(["core", "bazaar"]);
    expect(after[0]).toEqual(before[0]);
    expect(after[1]?.sources.sources.map(({ name }) => name)).toEqual(["Bazaar"]);
  });

  it("gives sources that are new together one indexer, which the next ones do not join", async () => {
    await start();
    table.push(bazaar);
    const after = await start({ collections: [punks, apes, cats] });
    expect(namesOf(after)).toEqual(["core", "added-1"]);
    expect(addressesOf(after, "core")).toEqual([punks, apes]);
    expect(addressesOf(after, "added-1")).toEqual([cats]);
    table.push(fair);
    const later = await start({ collections: [punks, apes, cats] });
    expect(namesOf(later)).toEqual(["core", "added-1", "fair"]);
    expect(schemaOf(later, "added-1")).toBe(schemaOf(after, "added-1"));
  });

  it("removes a collection that is no longer configured without indexing the others again", async () => {
    const before = await start();
    const after = await start({ collections: [punks] });
    expect(schemaOf(after, "core")).toBe(schemaOf(before, "core"));
    expect(addressesOf(after, "core", "recorded")).toEqual([punks]);
    expect(await readFollowedCollections(database.db, chain, curated)).toEqual([punks]);
  });

  it("indexes it apart when it is configured again: its facts were left out meanwhile", async () => {
    const before = await start();
    await start({ collections: [punks] });
    const after = await start();
    expect(namesOf(after)).toEqual(["core", apes]);
    expect(schemaOf(after, "core")).toBe(schemaOf(before, "core"));
    expect(addressesOf(after, "core", "recorded")).toEqual([punks]);
    expect(addressesOf(after, apes, "recorded")).toEqual([apes]);
  });

  it("forgets collections apart once all of the chain are indexed", async () => {
    await start();
    await start({ collections: [punks, apes, cats] });
    expect(namesOf(await start({ collections: "all" }))).toEqual(["core", "added-1"]);
  });

  it("indexes changes of metadata apart, of collections that an earlier version added without", async () => {
    const { db } = database;
    const before = await start();
    await sql`update ops.source set event_sources = array['Erc721', 'Erc1155'] where source = ${punks}`.execute(
      db,
    );
    const old = await readIndexers(db, chain, curated);
    const after = await start({ collections: [punks, apes, cats] });
    const metadataOf = (name: string) =>
      after
        .find((one) => one.name === name)
        ?.sources.sources.flatMap((one) =>
          metadataEvents.includes(one.name) ? [one.addresses] : [],
        );
    expect(namesOf(before)).toEqual(["core"]);
    expect(schemaOf(after, "core")).toBe(schemaOf(old, "core"));
    expect(namesOf(after)).toEqual(["core", "added-1"]);
    expect(metadataOf("core")).toEqual([[apes], [apes]]);
    expect(metadataOf("added-1")).toEqual([
      [punks, cats],
      [punks, cats],
    ]);
  });

  it("indexes them with ids as topics apart, where an earlier version indexed the others", async () => {
    const { db } = database;
    const [usual, indexed] = metadataShapes;
    await start();
    await sql`
      update ops.source set event_sources = array_remove(event_sources, ${indexed?.name})
      where address is not null`.execute(db);
    const old = await readIndexers(db, chain, curated);
    const after = await start();
    expect(namesOf(after)).toEqual(["core", indexed?.source]);
    expect(schemaOf(after, "core")).toBe(schemaOf(old, "core"));
    const read = after.map(({ recorded }) =>
      recorded.sources.filter(({ name }) => metadataEvents.includes(name)),
    );
    const both = [punks, apes];
    expect(read).toMatchObject([
      [{ name: usual?.name, addresses: both }],
      [{ name: indexed?.name, addresses: both }],
    ]);
  });

  it("indexes them with ids as topics apart where all collections are", async () => {
    const { db } = database;
    const [, indexed] = metadataShapes;
    await start({ collections: "all" });
    await sql`delete from ops.source where source = ${indexed?.source}`.execute(db);
    const after = await start({ collections: "all" });
    expect(namesOf(after)).toEqual(["core", indexed?.source]);
    expect(after[1]?.recorded.sources).toMatchObject([{ name: indexed?.name, addresses: null }]);
  });

  it("indexes changes of metadata of any contract where all collections are", async () => {
    const [core, ...others] = await start({ collections: "all" });
    expect(others).toEqual([]);
    const found = core?.sources.sources.filter(({ name }) => metadataEvents.includes(name));
    expect(found?.map(({ addresses }) => addresses)).toEqual([null, null]);
  });
});

describe("an operator's decision", () => {
  it("outlives starts", async () => {
    const { db } = database;
    table.push(bazaar);
    const before = await start();
    await removeSource(db, chain.chainId, "bazaar", "operator");
    const removed = await start();
    expect(namesOf(removed)).toEqual(["core"]);
    expect(schemaOf(removed, "core")).toBe(schemaOf(before, "core"));
    await addSources(db, chain.chainId, [
      {
        ...{ source: cats, indexer: cats, eventSources: collectionEvents, address: cats },
        ...{ firstBlock: 7, addedBy: "operator" },
      },
    ]);
    const added = await start({ startBlock: null });
    expect(namesOf(added)).toEqual(["core", cats]);
    expect(added[1]?.sources.sources.map(({ firstBlock }) => firstBlock)).toEqual([7, 7, 7, 7]);
  });

  it("to reindex leaves out what is not recorded, which then has an indexer of its own", async () => {
    const { db } = database;
    table.push(bazaar);
    const before = await start();
    await removeSource(db, chain.chainId, "bazaar", "operator");
    await detachRemoved(db, { chainId: chain.chainId, indexer: "core" });
    const after = await start();
    expect(after[0]?.sources).toEqual(after[0]?.recorded);
    expect(schemaOf(after, "core")).not.toBe(schemaOf(before, "core"));
    await restoreSource(db, chain.chainId, "bazaar");
    expect(namesOf(await start())).toEqual(["core", "bazaar"]);
  });

  it("to restore a source of its own goes on with the same schema", async () => {
    const { db } = database;
    await start();
    table.push(bazaar);
    const before = await start();
    await removeSource(db, chain.chainId, "bazaar", "operator");
    expect(namesOf(await start())).toEqual(["core"]);
    await restoreSource(db, chain.chainId, "bazaar");
    const after = await start();
    expect(schemaOf(after, "bazaar")).toBe(schemaOf(before, "bazaar"));
  });
});
