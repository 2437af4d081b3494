import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerCuratedCollections } from "#jobs/collections/register-curated.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import {
  addressOf,
  appendEvents,
  block,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { apes, operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type LimitedApi, openLimitedApi } from "#test/support/http/limited-api.ts";

const [bears, units, cats] = [51, 52, 53].map(addressOf) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const unseen = addressOf(60);

let database: TestDatabase;
let targets: Target[];
let api: LimitedApi;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const mint = { kind: "erc721_transfer", from: zeroAddress, to: addressOf(7) } as const;
  const at = block(33139, 50);
  await appendEvents(database.db, [
    { ...mint, block: at, logIndex: 4, contract: apes, tokenId: 1n },
    { ...mint, block: at, logIndex: 0, contract: bears, tokenId: 1n },
    { ...mint, block: at, logIndex: 1, contract: bears, tokenId: 2n },
    { ...mint, block: at, logIndex: 2, contract: cats, tokenId: 1n },
    {
      ...mint,
      kind: "erc1155_transfer",
      block: at,
      logIndex: 3,
      contract: units,
      tokenId: 1n,
      amount: 9n,
    },
  ]);
  targets = await prepare(database.db);
  await project(database.db, targets);
  api = await openLimitedApi({ url: database.url, limits: { keyless: 0 } });
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

/** A command, after which the projections follow. */
async function op(...args: string[]) {
  const outcome = await operate(database.url, "collections", ...args);
  await project(database.db, targets);
  return outcome;
}

async function facts(): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(
    database.db,
  );
  return rows[0]?.position ?? -1n;
}

type Collection = {
  slug: string;
  address: string;
  name: string | null;
  verified: boolean;
  contracts: { address: string }[];
  stats: { supply: number; holders: number; sales: Record<string, number> };
};
type Answer = { status: number; data: Collection };

async function read(named: string): Promise<Answer> {
  const { status, body } = await api.get(`/v1/collections/${named}?chainId=33139`);
  return { status, data: (body as { data: Collection }).data };
}

async function listed(filter = ""): Promise<Collection[]> {
  const { body } = await api.get(`/v1/collections?chainId=33139&per_page=100${filter}`);
  return (body as { data: Collection[] }).data;
}

describe("op collections", () => {
  it("add registers a collection that is read under its slug at once; the same again appends nothing", async () => {
    const added = await op(
      "add",
      `33139:${apes}`,
      "--slug",
      "old-apes",
      "--name",
      "Old Apes",
      "--json",
    );
    const position = await facts();
    const again = await op(
      "add",
      `33139:${apes.toUpperCase().replace("0X", "0x")}`,
      "--slug",
      "old-apes",
    );

    expect(JSON.parse(added.out)).toMatchObject({
      hasChanged: true,
      entry: { slug: "old-apes", source: "operator" },
    });
    expect([again.code, await facts()]).toEqual([0, position]);
    expect(await read("old-apes")).toMatchObject({
      status: 200,
      data: { address: apes, name: "Old Apes", verified: false },
    });
  });

  it("verify is followed by the filter, and so is taking it back", async () => {
    expect((await op("verify", "33139:old-apes")).code).toBe(0);
    expect((await listed("&verified=true")).map(({ slug }) => slug)).toEqual(["old-apes"]);
    expect((await op("verify", `33139:${apes}`, "--off")).code).toBe(0);
    expect(await listed("&verified=true")).toEqual([]);
    await op("verify", "33139:old-apes");
    expect(await read("old-apes")).toMatchObject({ data: { name: "Old Apes", verified: true } });
  });

  it("group makes one row of the contracts' figures, and remove puts everything back", async () => {
    const before = await listed();
    const [alone, other] = [await read(bears), await read(cats)];

    const grouped = await op("group", `33139:${bears}`, `33139:${cats}`, "--slug", "zoo", "--json");
    const position = await facts();
    const again = await op("group", `33139:${bears}`, `33139:${cats}`, "--slug", "zoo");
    const zoo = await read("zoo");

    expect(JSON.parse(grouped.out)).toMatchObject({ entry: { contracts: [bears, cats] } });
    expect([again.code, await facts()]).toEqual([0, position]);
    expect(zoo.data.contracts.map(({ address }) => address).sort()).toEqual([bears, cats].sort());
    expect(zoo.data.stats.supply).toBe(alone.data.stats.supply + other.data.stats.supply);
    expect(zoo.data.stats.holders).toBe(1);
    expect((await read(cats)).data.slug).toBe("zoo");
    expect(await listed()).toHaveLength(before.length - 1);

    const removed = await op("remove", `33139:${cats}`, "--json");
    const twice = await op("remove", `33139:${bears}`, "--json");

    expect(JSON.parse(removed.out)).toEqual({ hasChanged: true, entry: null });
    expect(JSON.parse(twice.out)).toEqual({ hasChanged: false, entry: null });
    expect(await listed()).toEqual(before);
    expect([await read(bears), await read(cats)]).toEqual([alone, other]);
    expect((await read("zoo")).status).toBe(404);
  });

  it("remove of a contract that nobody has seen leaves nothing of it", async () => {
    await op("add", `33139:${unseen}`, "--slug", "soon");
    expect((await read("soon")).status).toBe(200);

    await op("remove", "33139:soon");

    expect((await read(unseen)).status).toBe(404);
  });

  it("the operator's decision stands over the curated file's after restarts; remove brings the file's back", async () => {
    const entry = { chainId: 33139 as const, primary: cats, contracts: [cats], verified: true };
    const file = [{ ...entry, slug: "cats", name: "Cats" }];
    await registerCuratedCollections(database.db, file, new Date());
    await op("add", `33139:${cats}`, "--slug", "kittens");

    expect(await registerCuratedCollections(database.db, file, new Date())).toBe(0);
    expect(await read("kittens")).toMatchObject({ data: { name: "Cats", verified: true } });

    await op("remove", "33139:kittens");
    expect(await registerCuratedCollections(database.db, file, new Date())).toBe(0);
    expect((await read("cats")).data.name).toBe("Cats");
    expect(JSON.parse((await op("remove", "33139:cats", "--json")).out)).toMatchObject({
      hasChanged: false,
    });

    await op("remove", "33139:cats", "--entirely");
    expect(await registerCuratedCollections(database.db, file, new Date())).toBe(0);
    await project(database.db, targets);
    expect(await read(cats)).toMatchObject({ data: { slug: cats, verified: false } });

    expect(
      await registerCuratedCollections(
        database.db,
        [{ ...entry, slug: "cats", name: "New" }],
        new Date(),
      ),
    ).toBe(1);
    await op("remove", "33139:cats", "--entirely");
  });

  it("an invalid change is rejected with a message and appends no fact", async () => {
    await op("group", `33139:${bears}`, `33139:${cats}`, "--slug", "zoo");
    const position = await facts();
    const refusals: [number, RegExp, ...string[]][] = [
      [2, /unknown chain: expected 1 or 33139/, "add", `5:${apes}`],
      [2, /0x and 40 hex digits/, "add", "33139:0x12"],
      [2, /lower-case words/, "add", `33139:${apes}`, "--slug", "Old Apes"],
      [2, /must be on one chain/, "group", `33139:${apes}`, `1:${bears}`],
      [1, /old-apes is the slug of/, "add", `33139:${unseen}`, "--slug", "old-apes"],
      [1, /belongs to the collection of/, "group", `33139:${apes}`, `33139:${cats}`],
      [1, /belongs to the collection of/, "add", `33139:${cats}`, "--slug", "my-cats"],
      [1, /must have one standard/, "group", `33139:${apes}`, `33139:${units}`],
      [1, /no collection nobody/, "verify", "33139:nobody"],
      [1, /no collection nobody/, "remove", "33139:nobody"],
    ];
    const outcomes = await Promise.all(
      refusals.map(([, , ...args]) => operate(database.url, "collections", ...args)),
    );
    expect(outcomes.map((outcome, index) => [index, outcome.code, outcome.words])).toEqual(
      refusals.map(([code, words], index) => [index, code, expect.stringMatching(words)]),
    );
    expect(await facts()).toBe(position);
  });

  it("list prints the registry in effect, and every table is what the log derives", async () => {
    const { out } = await op("list", "--chain", "33139", "--json");

    expect(JSON.parse(out)).toMatchObject({
      collections: [
        { slug: "old-apes", primary: apes, verified: true },
        { slug: "zoo", contracts: [bears, cats] },
      ],
    });
    expect((await op("list")).out).toMatch(/33139 +zoo +0x[0-9a-f]+ +- +no +2 +operator/);
    expect((await operate(database.url, "verify", "collections")).code).toBe(0);
    expect((await operate(database.url, "verify", "collection_stats")).code).toBe(0);
  });
});
