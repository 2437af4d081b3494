import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Database } from "#projections/log/database.ts";
import { ownedTokens } from "#test/support/market-data/owned-tokens.ts";
import { dead, holders, nfts } from "#test/support/market-data/token-market.ts";
import {
  openTokenReads,
  type TokenReads,
  type TokenRow,
} from "#test/support/market-data/token-reads.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

/** A token as the tables that the list does not read tell it. */
type Known = {
  contract: Hex;
  contractId: number;
  tokenId: bigint;
  standard: number;
  owner: Hex | null;
  /** Who holds units of an ERC-1155 id. */
  holders: Hex[];
  priceWei: bigint | null;
  listedAt: bigint | null;
  rank: number | null;
};

async function readKnown(db: Database, now: bigint): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select k.address as contract, t.contract_id as "contractId", t.token_id as "tokenId", t.standard, t.owner,
           case when t.standard = 1155 then array(
             select '0x' || encode(b.owner, 'hex') from ownership.balance b
             where b.contract_id = t.contract_id and b.token_id = t.token_id and b.units > 0
           ) else '{}' end as holders,
           l.price as "priceWei", l.at as "listedAt", r.rank
    from ${ownedTokens} t join log.contract k using (contract_id)
    left join lateral (
      select min(unit_price_wei) as price, (extract(epoch from max(created_at)) * 1000000)::bigint as at
      from listings.listing l
      where l.contract_id = t.contract_id and l.token_id = t.token_id and status = 'active' and end_time > ${now}
    ) l on true
    left join rarity.token r on r.contract_id = t.contract_id and r.token_id = t.token_id`.execute(
    db,
  );
  return rows;
}

type Value = (token: Known) => bigint | null;

const sorts: Record<string, { value: Value; towards: 1 | -1 }> = {
  token_id: { value: () => null, towards: 1 },
  price_asc: { value: ({ priceWei }) => priceWei, towards: 1 },
  price_desc: { value: ({ priceWei }) => priceWei, towards: -1 },
  rarity: { value: ({ rank }) => (rank === null ? null : BigInt(rank)), towards: 1 },
  recently_listed: { value: ({ listedAt }) => listedAt, towards: -1 },
};

const less = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));
const byId = (a: Known, b: Known) =>
  less(a.tokenId, b.tokenId) || a.contractId - b.contractId || a.standard - b.standard;

function inOrder(tokens: readonly Known[], sort: string): Known[] {
  const { value, towards } = sorts[sort] ?? { value: () => null, towards: 1 };
  return tokens.toSorted((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null) || byId(a, b);
    }
    return towards * (less(one, other) || byId(a, b));
  });
}

const [alice = dead] = holders;
const families: [string, Hex[]][] = [
  ["punks", [nfts.punks.address]],
  ["kin", [nfts.kin.address, nfts.kinSecond.address]],
  [nfts.kin.address, [nfts.kin.address]],
  [nfts.kinSecond.address, [nfts.kinSecond.address]],
  ["EDITIONS", [nfts.editions.address]],
];
const filters: [string, (token: Known) => boolean][] = [
  ["", () => true],
  ["&listed=true", ({ priceWei }) => priceWei !== null],
  ["&listed=false", ({ priceWei }) => priceWei === null],
  [`&owner=${alice.toUpperCase().replace("X", "x")}`, isHeldBy(alice)],
  [`&owner=${alice}&listed=true`, (t) => isHeldBy(alice)(t) && t.priceWei !== null],
  [`&owner=${dead}`, isHeldBy(dead)],
  ["&token_ids=7,2,2,900", ({ tokenId }) => tokenId === 7n || tokenId === 2n],
  ["&token_ids=1,3,5&listed=false", (t) => [1n, 3n, 5n].includes(t.tokenId) && t.priceWei === null],
];

function isHeldBy(wallet: Hex) {
  return ({ owner, holders }: Known) => owner === wallet || holders.includes(wallet);
}

const nameOf = ({ contract, tokenId, standard }: TokenRow | Known) =>
  `${contract}/${tokenId}/${typeof standard === "number" ? `erc${standard}` : standard}`;

/** Each list of the families under the filters, with the tokens that it must hold. */
function listsOf(known: readonly Known[], sort: string): { path: string; tokens: Known[] }[] {
  return families.flatMap(([family, contracts]) =>
    filters.map(([filter, keeps]) => ({
      path: `/v1/collections/${family}/tokens?sort=${sort}${filter}`,
      tokens: inOrder(
        known.filter((token) => contracts.includes(token.contract) && keeps(token)),
        sort,
      ),
    })),
  );
}

describe.each(seedsOf([11, 12]))("the tokens of market %i", (seed) => {
  let now = 0n;
  beforeAll(async () => {
    const market = await reads.playMarket(seed, 30);
    now = market.now();
  });

  it.each(Object.keys(sorts))(
    "are listed by %s under every filter, on one page or on many",
    async (sort) => {
      let listed = 0;
      for (const moment of [now, now + 60n]) {
        reads.at(moment);
        for (const { path, tokens } of listsOf(await readKnown(reads.db, moment), sort)) {
          listed += tokens.filter(({ priceWei }) => priceWei !== null).length;
          const page = await reads.list(`${path}&per_page=100`);
          expect(page.data.map(nameOf), path).toEqual(tokens.map(nameOf));
          const total = tokens.length;
          expect(page.meta).toEqual({ chainId: 1, total, per_page: 100, next_cursor: null });
          if (moment === now) continue;
          const walked = await reads.walk(`${path}&per_page=3`);
          expect(walked, path).toEqual({ rows: page.data, total });
        }
      }
      expect(listed).toBeGreaterThan(0);
    },
  );

  it("are the same in a list and alone", async () => {
    reads.at(now);
    for (const [family] of families) {
      const { data } = await reads.list(`/v1/collections/${family}/tokens?per_page=100`);
      for (const row of data) {
        const one = await reads.answer(`/v1/collections/${row.contract}/tokens/${row.tokenId}`);
        expect(one).toEqual({ success: true, data: row, meta: {} });
      }
      expect(data.length).toBeGreaterThan(5);
    }
  });
});

const Shown = z.looseObject({
  isBurned: z.boolean(),
  attributes: z.array(z.unknown()).nullable(),
  rarity: z.object({ rank: z.number(), score: z.number(), of: z.number() }).nullable(),
  metadata: z.object({
    status: z.string(),
    updatedAt: z.string().nullable(),
    issue: z.string().nullable(),
  }),
  listing: z.unknown(),
  bestOffer: z.unknown(),
  lastSale: z.unknown(),
  owner: z.string().nullable(),
});

/** What a row says goes together. */
function expectSense(row: z.output<typeof Shown>, ranked: number): void {
  const { attributes, metadata, rarity, isBurned, owner } = row;
  if (isBurned) expect(owner).toBeNull();
  expect(attributes === null).toBe(metadata.status !== "ok");
  const wasFetched = metadata.updatedAt !== null;
  expect(
    wasFetched || metadata.status === "pending" || (isBurned && metadata.status === "failed"),
  ).toBe(true);
  expect(wasFetched && metadata.status === "pending").toBe(false);
  expect(metadata.issue === null).toBe(metadata.status !== "failed");
  expect(rarity === null).toBe(isBurned || metadata.status !== "ok");
  expect(rarity?.of ?? ranked).toBe(ranked);
}

function partsOf(row: z.output<typeof Shown>): string[] {
  const parts = ["listing", "bestOffer", "lastSale", "rarity"] as const;
  return [
    `metadata ${row.metadata.status}`,
    ...(row.isBurned ? ["burned"] : []),
    ...parts.filter((part) => row[part] !== null),
  ];
}

/** What the tokens of all families have to tell of. */
async function lookAtAll(): Promise<string[]> {
  const seen: string[] = [];
  for (const family of ["punks", "kin", "editions"]) {
    const { data } = await reads.list(`/v1/collections/${family}/tokens?per_page=100`);
    const rows = data.map((row) => Shown.parse(row));
    const ranked = rows.filter(({ rarity }) => rarity !== null).length;
    for (const row of rows) expectSense(row, ranked);
    seen.push(...rows.flatMap(partsOf));
  }
  return seen;
}

describe("a list of tokens", () => {
  it("shows the details of tokens in every state", async () => {
    const seen = new Set<string>();
    for (const seed of [21, 22]) {
      await reads.playMarket(seed, 40);
      for (const part of await lookAtAll()) seen.add(part);
    }
    expect([...seen].toSorted()).toEqual([
      "bestOffer",
      "burned",
      "lastSale",
      "listing",
      "metadata failed",
      "metadata ok",
      "metadata pending",
      "rarity",
    ]);
  });

  it("is paged to its end while it changes: no unchanged token is missing or repeated", async () => {
    const market = await reads.playMarket(31, 40);
    const kin: Hex[] = [nfts.kin.address, nfts.kinSecond.address];
    for (const [sort, { value }] of Object.entries(sorts)) {
      const moment = market.now();
      reads.at(moment);
      const states: Map<string, bigint | null>[] = [];
      const look = async () => {
        const known = await readKnown(reads.db, moment);
        states.push(new Map(known.map((token) => [nameOf(token), value(token)])));
      };
      await look();
      const path = `/v1/collections/kin/tokens?sort=${sort}&per_page=2`;
      const { rows } = await reads.walk(path, async () => {
        await market.go();
        await look();
      });
      const told = rows.map(nameOf);
      const [first = new Map<string, bigint | null>(), ...later] = states;
      const steady = [...first].filter(([name, then]) =>
        later.every((state) => state.get(name) === then),
      );
      const ofKin = steady.filter(([name]) => kin.some((contract) => name.startsWith(contract)));
      expect(ofKin.length).toBeGreaterThan(3);
      for (const [name] of ofKin) {
        expect(
          told.filter((one) => one === name),
          `${sort} ${name}`,
        ).toHaveLength(1);
      }
    }
  });

  it("selects one contract of a collection by `contract`, also the primary one", async () => {
    await reads.playMarket(43, 20);
    const path = "/v1/collections/kin/tokens?per_page=100";
    const all = await reads.walk(path);
    for (const { address } of [nfts.kin, nfts.kinSecond]) {
      const own = await reads.walk(`${path}&contract=${address}`);
      expect(own.rows).toEqual(all.rows.filter(({ contract }) => contract === address));
      expect(own.total).toBe(own.rows.length);
    }
    for (const other of [nfts.punks.address, dead]) {
      await reads.refusal(`${path}&contract=${other}`, 422, "invalid_parameters");
    }
  });

  it("refuses cursors of another sort or filter, and invalid parameters", async () => {
    await reads.playMarket(41, 20);
    const path = "/v1/collections/kin/tokens";
    const { meta } = await reads.list(`${path}?sort=price_asc&per_page=2`);
    expect(meta.next_cursor).not.toBeNull();
    for (const other of [
      "sort=price_desc",
      "sort=price_asc&listed=true",
      `sort=price_asc&owner=${alice}`,
    ]) {
      await reads.refusal(`${path}?${other}&cursor=${meta.next_cursor}`, 422, "invalid_cursor");
    }
    await reads.refusal(
      `/v1/collections/punks/tokens?sort=price_asc&cursor=${meta.next_cursor}`,
      422,
      "invalid_cursor",
    );
    await reads.refusal(`${path}?cursor=nonsense`, 422, "invalid_cursor");
    const ids = Array.from({ length: 101 }, (_, id) => id).join();
    for (const bad of [
      `token_ids=${ids}`,
      "token_ids=x",
      "token_ids=007",
      `token_ids=${2n ** 256n}`,
      "token_ids=",
      "owner=0x1",
      "listed=maybe",
      "sort=name",
      "per_page=101",
    ]) {
      await reads.refusal(`${path}?${bad}`, 422, "invalid_parameters");
    }
    await reads.refusal("/v1/collections/nobody/tokens", 404, "not_found");
    const { meta: default_ } = await reads.list(path);
    expect(default_.per_page).toBe(50);
  });
});
