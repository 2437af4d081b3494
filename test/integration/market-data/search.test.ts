import { sql } from "kysely";
import { type Hex, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  readCollectionsByText,
  readHashMatches,
  readTokensByName,
} from "#projections/collections/read-search.ts";
import type { Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { plansOf } from "#test/support/database/plans.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { described, holders, nfts } from "#test/support/market-data/token-market.ts";
import { receivedAt, transferred } from "#test/support/orders/order-facts.ts";

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(41, 60);
  await stage.happens(
    registered(famous, "bored-ape-yacht-club", "Bored Ape Yacht Club", true),
    registered(copy, "bayc-official", "BORED  APE-YACHT.CLUB", false),
    registered(other, "apex-punx", "Apex (100%_off) \\ punx", false),
    named(other, 1n),
    named(famous, 2n),
    described(famous, 2n, [{ trait_type: "Fur", value: "Gold" }]),
  );
});
afterAll(() => stage?.close());

const [famous, copy, other] = [addressOf(0xabcd01), addressOf(0xabcd02), addressOf(0xabcd03)];

/** Names that a reader takes for the famous one. */
const imitations = [
  "B\u043ered Ape Yacht Club",
  "Bored \u0391pe Yacht Club",
  "\uff22ored \uff21pe \uff39acht \uff23lub",
  "Bored Ape Yacht C1ub",
  "B0red Ape Yacht CIub",
  "Bo\u200bred Ape Yacht\u2060 Club",
  "Bored A\u0323pe Y\u00e1cht Club",
  "\u{1d401}ored Ape Yacht Club \u2705",
] as const;
const honest = ["Board Ape Yacht Club", "Bored Ape Kennel Club", "Yacht Club"] as const;

function registered(contract: Hex, slug: string, name: string, verified: boolean): Observation {
  return {
    kind: "collection_registered",
    chainId: 1,
    contract,
    identity: keccak256(stringToHex(`registered ${slug}`)),
    recordedAt: new Date(Number(receivedAt) * 1000),
    payload: { slug, name, verified, primary: contract, contracts: [contract] },
  };
}

/** A transfer that makes a token known; in a block of its own. */
const named = (contract: Hex, tokenId: bigint) =>
  transferred({ contract, tokenId, to: addressOf(5) }, { at: block(1, 950), log: Number(tokenId) });

const Row = z.looseObject({ chainId: z.number().optional(), address: z.string().optional() });
const Found = z.strictObject({
  collections: z.array(z.looseObject({ address: z.string(), verified: z.boolean() })),
  tokens: z.array(z.looseObject({ contract: z.string(), tokenId: z.string() })),
  wallets: z.array(Row),
  transactions: z.array(z.looseObject({ txHash: z.string() })),
  orders: z.array(z.looseObject({ id: z.string(), side: z.string() })),
  sales: z.array(z.looseObject({ saleId: z.string() })),
});

const search = async (q: string, more = "") => {
  const answer = await stage.v1(`/search?q=${encodeURIComponent(q)}${more}`);
  return Found.parse(z.object({ data: z.unknown() }).parse(answer).data);
};
const addresses = async (q: string) => (await search(q)).collections.map(({ address }) => address);

async function column(query: string): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`${sql.raw(query)}`.execute(stage.db);
  return rows.map(({ value }) => value);
}

describe("GET /v1/search", () => {
  it("finds collections by the beginnings of their words, the verified one first", async () => {
    for (const q of [
      "bored",
      "Bored Ape",
      "ape bor",
      "boredape",
      "YACHT",
      "bored-ape-yacht-club",
    ]) {
      expect(await addresses(q), q).toEqual([famous, copy]);
    }
    expect(await addresses("ape")).toEqual([famous, copy, other]);
    expect(await addresses("official")).toEqual([copy]);
    expect(await addresses("100%_off")).toEqual([other]);
    for (const q of ["ored", "bored punx", "%%", "\\\\", "  ..  ", "zz' or 1=1"]) {
      expect(await addresses(q), q).toEqual([]);
    }
  });

  it("tells a name's imitation from the verified collection", async () => {
    const { collections } = await search("bored ape yacht club");
    expect(collections).toMatchObject([
      { address: famous, verified: true, sameNameAs: null },
      { address: copy, verified: false, sameNameAs: { address: famous, chainId: 1 } },
    ]);
    expect((await search("punx")).collections).toMatchObject([{ sameNameAs: null }]);
  });

  it.each([
    ...imitations.map((name) => [name, { address: famous, chainId: 1 }] as const),
    ...honest.map((name) => [name, null] as const),
  ])("tells a name that looks like a verified one, and no other: %s", async (name, sameNameAs) => {
    const at = [...imitations, ...honest].indexOf(name);
    const address = addressOf(0xdcba00 + at);
    await stage.happens(registered(address, `looks-${at}`, name, false));
    expect((await search(address)).collections).toMatchObject([{ address, name, sameNameAs }]);
  });

  it("finds every collection by its slug, its addresses and their beginnings", async () => {
    for (const slug of await column(
      "select slug as value from collections.collection where registered",
    )) {
      expect((await search(slug)).collections.map((one) => one.slug)).toContain(slug);
    }
    for (const { address } of Object.values(nfts)) {
      const [found] = (await search(address.toUpperCase().replace("0X", "0x"))).collections;
      expect(found?.address).toBe(address === nfts.kinSecond.address ? nfts.kin.address : address);
    }
    expect((await addresses(famous.slice(0, -1))).sort()).toEqual([famous, copy, other]);
    expect(await addresses("0xab")).toEqual([]);
  });

  it("finds every token by its contract and id, and by its name", async () => {
    const tokens = await column(`
      select '0x' || encode(address, 'hex') || '/' || token_id as value
      from ownership.token join log.contract using (contract_id)`);
    expect(tokens.length).toBeGreaterThan(20);
    for (const token of tokens) {
      const [contract, tokenId] = token.split("/");
      for (const q of [token, token.replace("/", " #")]) {
        expect((await search(q)).tokens, q).toContainEqual(
          expect.objectContaining({ contract, tokenId }),
        );
      }
    }
    expect((await search("bored ape 2")).tokens).toMatchObject([{ contract: famous }]);
    const ofKin = (await search("kin: 3")).tokens.map(({ contract }) => contract);
    for (const contract of ofKin) {
      expect([nfts.kin.address, nfts.kinSecond.address]).toContain(contract);
    }
    const named = (await search("TOKEN 2")).tokens;
    expect(named.length).toBeGreaterThan(0);
    for (const { name } of named) expect(name).toMatch(/^Token 2/);
  });

  it("finds every sale, order and transaction by its hash, and nothing of a retracted block", async () => {
    const sales = await column("select '0x' || encode(sale_id, 'hex') as value from sales.sale");
    expect(sales.length).toBeGreaterThan(0);
    for (const saleId of sales) expect((await search(saleId)).sales).toMatchObject([{ saleId }]);

    for (const [table, side] of [
      ["listings.listing", "listing"],
      ["bids.bid", "bid"],
    ]) {
      for (const orderHash of await column(
        `select '0x' || encode(order_hash, 'hex') as value from ${table}`,
      )) {
        const { orders } = await search(orderHash.toUpperCase().replace("0X", "0x"));
        expect(orders).toMatchObject([{ orderHash, side }]);
        expect((await search(orders[0]?.id ?? "")).orders).toEqual(orders);
      }
    }

    const [txHash = ""] = await column(
      `select '0x' || encode(t.hash, 'hex') as value from log.transaction t join log.block b using (block_id)
       where b.number = 950`,
    );
    expect((await search(txHash)).transactions).toMatchObject([{ txHash, blockNumber: 950 }]);
    await stage.retract(block(1, 950));
    expect((await search(txHash)).transactions).toEqual([]);
    await stage.readopt(block(1, 950));
    expect((await search(txHash)).transactions).toMatchObject([{ txHash }]);
  });

  it("finds wallets, and nothing of another chain", async () => {
    const [wallet = ""] = holders;
    expect((await search(wallet)).wallets).toMatchObject([{ address: wallet, ensName: null }]);
    expect((await search("bored", "&chainId=33139")).collections).toEqual([]);
    expect((await search("bored", "&chainId=1&limit=1")).collections).toHaveLength(1);
  });

  it.each([
    "q=a",
    "q=%20%20a",
    "",
    "q=ab&limit=0",
    "q=ab&limit=21",
    `q=${"x".repeat(201)}`,
    "q=a%00b",
  ])("422 for %s", async (query) => {
    expect(await stage.v1(`/search?${query}`)).toMatchObject({ code: "invalid_parameters" });
  });

  it("answers texts of any shape", async () => {
    const shapes = [
      "0x",
      "0xzz",
      "-0x",
      `a ${"9".repeat(78)}`,
      "……",
      "😀😀",
      "a/b/c 1",
      "ＢＡＹＣ",
      "١٢",
    ];
    for (const q of shapes) expect(Object.keys(await search(q))).toHaveLength(6);
  });
});

describe("a search reads indexes", () => {
  it.each([
    ["collections", (db) => readCollectionsByText(db, [1], "alpha w77", 10), /word_begins/],
    ["tokens by name", (db) => readTokensByName(db, [1], "thing 7", 10), /token_name/],
    [
      "hashes",
      (db) => readHashMatches(db, [1], `0x${"ab".repeat(32)}`, new Date()),
      /transaction_hash/,
    ],
  ] satisfies [string, (db: Database) => Promise<unknown>, RegExp][])(
    "for %s",
    async (_, read, index) => {
      await fill(stage.db);
      const plan = await plansOf(stage.db, read);
      expect(plan).toMatch(index);
      expect(plan).not.toMatch(
        /Seq Scan on (word|collection|token|transaction|fact|sale|listing|bid) /,
      );
    },
  );
});

let isFilled = false;
async function fill(db: Database): Promise<void> {
  if (isFilled) return;
  isFilled = true;
  const rows = sql`from generate_series(100001, 120000) n`;
  await sql`
    insert into collections.collection (collection_id, chain_id, slug, name, verified, registered)
    select n, 1, n, n, false, false ${rows}`.execute(db);
  await sql`
    insert into collection_stats.collection (collection_id, chain_id, verified, listed)
    select n, 1, false, 0 ${rows}`.execute(db);
  await sql`
    insert into collections.word (collection_id, chain_id, verified, word, is_name)
    select n, 1, false, w, false ${rows}, unnest(array['alpha', 'w' || n]) w`.execute(db);
  await sql`
    insert into metadata.token (contract_id, token_id, position, status, name, attributes, updated_at, chain_id,
                                attempt, last_position, due_at)
    select n, 1, n, 'ok', 'Thing ' || n, '[]', now(), 1, 0, n, now() ${rows}`.execute(db);
  await sql`
    insert into log.transaction select n, 0, sha256(n::text::bytea) ${rows}`.execute(db);
  for (const table of [
    "collections.collection",
    "collections.word",
    "collection_stats.collection",
    "metadata.token",
    "log.transaction",
  ]) {
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
}
