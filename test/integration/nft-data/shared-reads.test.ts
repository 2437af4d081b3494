import { keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { snake } from "#api/account/objects.ts";
import { appendObservations } from "#projections/log/append.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import {
  collectionsRegistered,
  holders,
  nfts,
  sameType,
  traitsAmong,
} from "#test/support/market-data/token-market.ts";

/** What the account API tells, /v1 tells too, on every chain. */
let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(31, 40);
});
afterAll(() => stage?.close());

/** Two of them are of one family, whose slug means both. */
const contracts = [nfts.punks, nfts.kin, nfts.kinSecond, nfts.editions].map(
  ({ address }) => address,
);
const sorts = ["token_id", "price_asc", "price_desc", "rarity", "recently_listed"];
const Page = z.object({
  data: z.array(z.looseObject({})),
  meta: z.looseObject({ total: z.number().optional(), next_cursor: z.string().nullable() }),
});

/** Every row of a /v1 list, by cursors. */
async function walk(path: string, perPage: number) {
  const first = `${path}${path.includes("?") ? "&" : "?"}per_page=${perPage}`;
  const rows: unknown[] = [];
  for (let next = Page.parse(await stage.v1(first)); ; ) {
    expect(next.data.length).toBeLessThanOrEqual(perPage);
    rows.push(...next.data);
    if (next.meta.next_cursor === null) return { rows, total: next.meta.total };
    next = Page.parse(await stage.v1(`${first}&cursor=${next.meta.next_cursor}`));
  }
}

const code = async (path: string) =>
  z.object({ code: z.string() }).parse(await stage.v1(path)).code;

describe("GET /v1/collections/{collection}/holders", () => {
  it.each(contracts)("of %s are those of the account API, counted", async (contract) => {
    const expected = await stage.walk(`/api/collections/${contract}/holders`, 100);
    for (const perPage of [100, 1]) {
      const { rows, total } = await walk(`/collections/${contract}/holders`, perPage);
      expect(rows).toEqual(expected);
      expect(total).toBe(expected.length);
    }
    expect(expected.length).toBeGreaterThan(1);
  });

  it.each([...contracts, "kin"])("of %s are counted by how many tokens they hold", async (key) => {
    const { rows } = await walk(`/collections/${key}/holders`, 100);
    const held = z.array(z.looseObject({ tokens: z.number() })).parse(rows);
    const starts = [1, 2, 4, 11, 26, 51, 101];
    const groups = starts.map((from, index) => {
      const to = (starts[index + 1] ?? Number.POSITIVE_INFINITY) - 1;
      const own = held.filter(({ tokens }) => tokens >= from && tokens <= to);
      const tokens = String(own.reduce((sum, one) => sum + one.tokens, 0));
      return { from, to: to === Number.POSITIVE_INFINITY ? null : to, holders: own.length, tokens };
    });
    expect(groups.filter(({ holders }) => holders > 0).length).toBeGreaterThan(0);
    expect(await stage.v1(`/collections/${key}/holders/distribution`)).toMatchObject({
      data: {
        holders: held.length,
        tokens: String(held.reduce((sum, one) => sum + one.tokens, 0)),
        groups,
      },
    });
  });

  it("of a slug are those of all its contracts together", async () => {
    const Held = z.array(z.object({ address: z.string(), tokens: z.number(), units: z.string() }));
    const sums = new Map<string, { tokens: number; units: bigint }>();
    for (const { address } of [nfts.kin, nfts.kinSecond]) {
      for (const one of Held.parse((await walk(`/collections/${address}/holders`, 100)).rows)) {
        const { tokens, units } = sums.get(one.address) ?? { tokens: 0, units: 0n };
        const sum = { tokens: tokens + one.tokens, units: units + BigInt(one.units) };
        sums.set(one.address, sum);
      }
    }
    const { rows, total } = await walk("/collections/kin/holders", 100);
    const shown = Held.parse(rows).map(({ address, tokens, units }) => [address, tokens, units]);
    expect(new Map(shown.map(([address, ...held]) => [address, held]))).toEqual(
      new Map([...sums].map(([address, { tokens, units }]) => [address, [tokens, String(units)]])),
    );
    expect(total).toBe(sums.size);
  });

  it("refuses an unknown collection and a foreign cursor", async () => {
    expect(await code("/collections/nowhere/holders")).toBe("not_found");
    expect(await code(`/collections/${contracts[0]}/holders?cursor=abc`)).toBe("invalid_cursor");
  });
});

describe("GET /v1/wallets/{wallet}/tokens", () => {
  it.each([...holders, addressOf(999)])("of %s are those of the account API", async (wallet) => {
    for (const filter of ["", `?collection=${nfts.kin.address}`]) {
      const expected = await stage.walk(`/api/wallets/${wallet}/tokens${filter}`, 100);
      for (const perPage of [100, 2]) {
        const { rows } = await walk(`/wallets/${wallet}/tokens${filter}`, perPage);
        expect(snake(rows)).toEqual(expected);
      }
    }
  });

  it("refuses what is no wallet, and an unknown collection", async () => {
    expect(await code("/wallets/bob/tokens")).toBe("invalid_parameters");
    expect(await code(`/wallets/${holders[0]}/tokens?collection=nowhere`)).toBe("not_found");
  });
});

describe("GET /v1/collections/{collection}/traits", () => {
  it.each(contracts)("of %s are the attributes of the account API", async (contract) => {
    const Answer = z.object({ data: z.looseObject({ traitTypes: z.array(z.unknown()) }) });
    const { data } = Answer.parse(await stage.v1(`/collections/${contract}/traits`));
    const expected = await stage.data(`/api/collections/${contract}/attributes`);
    expect(snake(data)).toEqual(expected);
    expect(data.traitTypes.length).toBeGreaterThan(0);
  });
});

describe("GET /v1/activity", () => {
  it.each([
    "",
    "type=sale,transfer",
    "type=mint",
    "type=listing,offer,cancel",
    `collection=${nfts.kin.address}`,
    `wallet=${holders[0]}`,
    `wallet=${holders[1]}&type=sale&collection=${nfts.punks.address}`,
    "since=2023-11-14T22:30:00Z",
  ])("with %s is that of the account API", async (query) => {
    const expected = await stage.walk(`/api/activity?${query}`, 100);
    for (const perPage of [100, 7]) {
      expect(snake((await walk(`/activity?${query}`, perPage)).rows)).toEqual(expected);
    }
    if (query === "") expect(expected.length).toBeGreaterThan(50);
  });

  it("knows the other chain, and refuses what is no type", async () => {
    expect(await walk("/activity?chainId=33139", 10)).toMatchObject({ rows: [] });
    expect(await code("/activity?type=gift")).toBe("invalid_parameters");
    expect(await code("/activity?collection=nowhere")).toBe("not_found");
  });
});

describe("GET /v1/collections/{collection}/tokens by traits", () => {
  const Token = z.looseObject({
    attributes: z.array(z.looseObject({ trait_type: z.string(), value: z.unknown() })).nullable(),
  });
  const traitsOf = (row: unknown) => traitsAmong(Token.parse(row).attributes ?? []);

  /** Asks for some of the traits of a list; returns how many tokens were found. */
  async function askForTraits(path: string): Promise<number> {
    const all = (await walk(path, 100)).rows.map((row) => ({ row, traits: traitsOf(row) }));
    let found = 0;
    const traits = all.flatMap((token) => token.traits);
    for (const { type, value, same } of traits
      .filter((one) => String(one.value).length <= 500)
      .slice(0, 6)) {
      const expected = all
        .filter((token) => token.traits.some((one) => one.same === same))
        .map(({ row }) => row);
      const asked = `traits[${encodeURIComponent(sameType(type))}]=${encodeURIComponent(String(value))}`;
      const { rows, total } = await walk(`${path}&${asked}`, 2);
      expect(rows, asked).toEqual(expected);
      expect(total, asked).toBe(expected.length);
      found += expected.length;
    }
    return found;
  }

  it.each(sorts)("by %s are those that have them, with the exact total", async (sort) => {
    let found = 0;
    for (const contract of contracts) {
      for (const filter of ["", "&listed=true", "&listed=false"]) {
        found += await askForTraits(`/collections/${contract}/tokens?sort=${sort}${filter}`);
      }
    }
    expect(found).toBeGreaterThan(20);
  });
});

describe("GET /v1/collections?search", () => {
  it("finds a collection by a part of its slug, in any case", async () => {
    const [known] = collectionsRegistered();
    const contract = addressOf(4_321);
    if (known === undefined) throw new Error("no collection is registered");
    const payload = {
      slug: "zebra-zone",
      name: "Stripes",
      primary: contract,
      contracts: [contract],
    };
    const identity = keccak256(stringToHex("registered zebra-zone"));
    await appendObservations(stage.db, [{ ...known, contract, identity, payload }]);
    await stage.happens();

    const Row = z.array(z.looseObject({ slug: z.string() }));
    for (const search of ["zebra", "RA-ZO", "stripes"]) {
      const { rows, total } = await walk(`/collections?search=${search}`, 100);
      expect(Row.parse(rows).map(({ slug }) => slug)).toEqual(["zebra-zone"]);
      expect(total).toBe(1);
    }
  });
});
