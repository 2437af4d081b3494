import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { snake } from "#api/account/objects.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { ownedTokens } from "#test/support/market-data/owned-tokens.ts";
import {
  dead,
  holders,
  nfts,
  sameType,
  traitsAmong,
} from "#test/support/market-data/token-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let stage: NftDataFixture;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(31, 40);
});
afterAll(() => stage?.close());

const Attribute = z.looseObject({ trait_type: z.string(), value: z.unknown() });
const Token = z.looseObject({
  contract: z.string(),
  token_id: z.string(),
  standard: z.string(),
  attributes: z.array(Attribute).nullable(),
  is_burned: z.boolean(),
  listing: z.unknown(),
});
const V1 = z.object({ data: z.unknown() });
const [alice = dead, bob = dead] = holders;
/** Two of them are of one family: an address means its own contract, but on the profile. */
const contracts = [nfts.punks, nfts.kin, nfts.kinSecond, nfts.editions].map(
  ({ address }) => address,
);
const sorts = ["token_id", "price_asc", "price_desc", "rarity", "recently_listed"];

/** The same of /v1 under this API's names. */
const ofV1 = async (path: string) => snake(V1.parse(await stage.v1(path)).data);

const tokensOf = async (contract: string, query = "") =>
  z.array(Token).parse(await stage.walk(`/api/collections/${contract}/tokens${query}`, 100));

describe("collections", () => {
  it.each([
    "sort=volume",
    "sort=listed&direction=asc",
    "sort=holders",
    "sort=floor&direction=asc",
    "search=K",
  ])("are those of /v1 by %s, on one page or on many, at both paths", async (query) => {
    const rows = await stage.walk(`/api/collections?${query}`, 100);
    const v1 = z.array(z.looseObject({ address: z.string() }));
    const expected = v1.parse(await ofV1(`/collections?${query}`)).map(({ address }) => address);

    expect(v1.parse(rows).map(({ address }) => address)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    expect(await stage.walk(`/collections?${query}`, 1)).toEqual(rows);
  });

  it.each(contracts)("%s tells alone and in the list what /v1 tells", async (contract) => {
    const one = await stage.data(`/api/collections/${contract.toUpperCase().replace("0X", "0x")}`);

    expect(one).toEqual(await ofV1(`/collections/${contract}`));
    expect(await stage.walk("/api/collections", 100)).toContainEqual(one);
  });

  it("is found by any address of its family", async () => {
    expect(await stage.data(`/api/collections/${nfts.kinSecond.address}`)).toEqual(
      await stage.data(`/api/collections/${nfts.kin.address}`),
    );
  });
});

describe("tokens", () => {
  it.each(sorts)("are those of /v1 by %s, on one page or on many", async (sort) => {
    for (const contract of contracts) {
      for (const filter of ["", "&listed=true", "&listed=false", `&owner=${alice}`]) {
        const path = `/collections/${contract}/tokens?sort=${sort}${filter}`;
        const rows = await stage.walk(`/api${path}`, 100);

        expect(rows, path).toEqual(await ofV1(`${path}&per_page=100`));
        expect(await stage.walk(`/api${path}`, 2), path).toEqual(rows);
      }
    }
  });

  it("are the same in the list and alone", async () => {
    for (const token of await tokensOf(nfts.kin.address)) {
      const path = `/api/collections/${token.contract}/tokens/${token.token_id}`;
      expect(await stage.data(path)).toEqual(token);
    }
  });

  it.each(sorts)(
    "by %s are filtered by their attributes, in any spelling of the type",
    async (sort) => {
      let found = 0;
      for (const contract of contracts) {
        const all = await tokensOf(contract, `?sort=${sort}`);
        const traits = all.flatMap(({ attributes }) => traitsAmong(attributes ?? []));
        for (const { type, value, same } of traits.slice(0, runsOf(12, 4))) {
          if (String(value).length > 500) continue;
          const spelled = encodeURIComponent(type.toUpperCase());
          const query = `?sort=${sort}&attributes[${spelled}]=${encodeURIComponent(String(value))}`;
          const expected = all.filter(({ attributes }) =>
            traitsAmong(attributes ?? []).some((one) => one.same === same),
          );
          found += expected.length;
          expect(await tokensOf(contract, query), query).toEqual(expected);
          expect(await stage.walk(`/api/collections/${contract}/tokens${query}`, 1)).toEqual(
            expected,
          );
        }
      }
      expect(found).toBeGreaterThan(runsOf(20, 5));
    },
  );

  it("have all the attributes that are asked for", async () => {
    const all = await tokensOf(nfts.punks.address);
    const [one] = all.filter(({ attributes }) => traitsAmong(attributes ?? []).length > 1);
    const wanted = traitsAmong(one?.attributes ?? [])
      .filter(({ value }) => String(value).length < 500)
      .slice(0, 2);
    const query = wanted.map(
      ({ type, value }) => `attributes[${encodeURIComponent(type)}]=${value}`,
    );
    const expected = all.filter(({ attributes }) => {
      const own = traitsAmong(attributes ?? []).map(({ same }) => same);
      return wanted.every(({ same }) => own.includes(same));
    });

    expect(await tokensOf(nfts.punks.address, `?${query.join("&")}`)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    expect(await tokensOf(nfts.punks.address, "?attributes[Fur]=Nobody")).toEqual([]);
  });
});

describe("attributes", () => {
  const Types = z.object({
    trait_types: z.array(
      z.looseObject({
        type: z.string(),
        values: z.array(
          z.looseObject({ value: z.string(), count: z.number(), listed: z.number() }),
        ),
      }),
    ),
  });

  it("count the tokens that have them, and those of them that are listed", async () => {
    let counted = 0;
    for (const contract of contracts) {
      const live = (await tokensOf(contract)).filter(({ is_burned }) => !is_burned);
      const { trait_types } = Types.parse(
        await stage.data(`/api/collections/${contract}/attributes`),
      );
      for (const { type, values } of trait_types) {
        for (const { value, count, listed } of values) {
          const having = live.filter(({ attributes }) =>
            traitsAmong(attributes ?? []).some(({ same }) => same === `${sameType(type)}=${value}`),
          );
          expect([type, value, count, listed]).toEqual([
            ...[type, value, having.length],
            having.filter(({ listing }) => listing !== null).length,
          ]);
          counted += count;
        }
      }
    }
    expect(counted).toBeGreaterThan(20);
  });
});

type Held = { contract: Hex; tokenId: string; standard: number; owner: Hex; units: bigint };

async function readHeld(): Promise<Held[]> {
  const { rows } = await sql<Held>`
    select k.address as contract, h.token_id::text as "tokenId", h.standard, h.owner, h.units
    from (
      select contract_id, token_id, standard::int, owner, 1::numeric as units from ${ownedTokens} t where standard = 721
      union all
      select contract_id, token_id, 1155, owner, units from ownership.balance where units > 0
    ) h join log.contract k using (contract_id)
    order by contract_id, token_id, standard`.execute(stage.db);
  return rows;
}

/** Who holds what of a contract, as its list says it. */
function holdersAmong(held: readonly Held[], named: Hex) {
  const sums = new Map<Hex, { tokens: number; units: bigint }>();
  const counting = held.filter(({ contract, owner }) => contract === named && owner !== dead);
  for (const { owner, units } of counting) {
    const sum = sums.get(owner) ?? { tokens: 0, units: 0n };
    sums.set(owner, { tokens: sum.tokens + 1, units: sum.units + units });
  }
  return [...sums]
    .sort(([a, one], [b, other]) => other.tokens - one.tokens || (a < b ? 1 : -1))
    .map(([address, { tokens, units }]) => ({ address, tokens, units: String(units) }));
}

describe("holders", () => {
  it.each(contracts)("of %s are all who hold a token, most token ids first", async (contract) => {
    const path = `/api/collections/${contract}/holders`;

    const rows = await stage.walk(path, 100);
    expect(rows).toEqual(holdersAmong(await readHeld(), contract));
    expect(rows.length).toBeGreaterThan(1);
    expect(await stage.walk(path, 1)).toEqual(rows);
  });
});

describe("a wallet's tokens", () => {
  it.each([...holders, addressOf(999)])(
    "of %s are those of both standards that it holds",
    async (wallet) => {
      const held = (await readHeld()).filter(({ owner }) => owner === wallet);

      const rows = await stage.walk(`/api/wallets/${wallet}/tokens`, 100);
      expect(rows.map(({ contract, token_id, units }) => [contract, token_id, units])).toEqual(
        held.map(({ contract, tokenId, units }) => [contract, tokenId, String(units)]),
      );
      expect(await stage.walk(`/api/wallets/${wallet}/tokens`, 2)).toEqual(rows);
      for (const { units, ...token } of rows) {
        expect(
          await stage.data(`/api/collections/${token.contract}/tokens/${token.token_id}`),
        ).toEqual(token);
      }
      const kin = rows.filter(({ contract }) => contract === nfts.kinSecond.address);
      const path = `/api/wallets/${wallet}/tokens?collection=${nfts.kinSecond.address}`;
      expect(await stage.walk(path, 3)).toEqual(kin);
    },
  );

  it("could sell into what /v1 tells, on one page or on many", async () => {
    let offers = 0;
    for (const wallet of holders) {
      const rows = await stage.walk(`/api/wallets/${wallet}/offers`, 100);
      expect(rows).toEqual(await ofV1(`/wallets/${wallet}/offers?per_page=100`));
      expect(await stage.walk(`/api/wallets/${wallet}/offers`, 2)).toEqual(rows);
      offers += rows.length;
    }
    expect(offers).toBeGreaterThan(0);
  });
});

describe("a batch", () => {
  const Answer = z.object({ data: z.array(z.looseObject({ address: z.string() })) });
  const unknown = (count: number) =>
    Array.from({ length: count }, (_, index) => addressOf(5_000 + index));

  async function ask(path: string, body: unknown) {
    const answer = await stage.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return Answer.parse(answer.body).data;
  }

  it("of collections answers each address in its place, known or not, twice or once", async () => {
    const asked = [
      nfts.kin.address,
      ...unknown(6),
      nfts.kinSecond.address,
      nfts.kin.address,
      nfts.editions.address,
    ];
    const rows = await ask("/api/batch/collections", { addresses: asked });

    expect(rows.map(({ address }) => address)).toEqual(asked);
    const alone = async (address: Hex) => {
      const { status, body } = await stage.get(`/api/collections/${address}`);
      return status === 200 ? V1.parse(body).data : null;
    };
    for (const [place, address] of asked.entries()) {
      expect(rows[place]?.collection).toEqual(await alone(address));
    }
  });

  it("of wallets gives the first tokens of each, and a cursor for the rest", async () => {
    const asked = [alice, bob, alice, addressOf(5_000)];
    const rows = await ask("/api/batch/wallets", { addresses: asked, limit: 2 });

    for (const [place, wallet] of asked.entries()) {
      const all = await stage.walk(`/api/wallets/${wallet}/tokens`, 100);
      const page = z
        .object({ tokens: z.array(z.unknown()), next_cursor: z.string().nullable() })
        .parse(rows[place]);
      const rest =
        page.next_cursor === null
          ? []
          : (await stage.list(`/api/wallets/${wallet}/tokens?limit=100&cursor=${page.next_cursor}`))
              .data;
      expect([...page.tokens, ...rest]).toEqual(all);
    }
  });

  it.each(["collections", "wallets"])(
    "of %s takes none and 10 addresses, and not 11",
    async (what) => {
      const path = `/api/batch/${what}`;
      expect(await ask(path, { addresses: [] })).toEqual([]);
      expect(await ask(path, { addresses: unknown(10) })).toHaveLength(10);
      for (const addresses of [unknown(11), ["0x12"], "0x", undefined]) {
        const { status, body } = await stage.post(path, { addresses });
        expect([status, z.object({ code: z.string() }).parse(body).code]).toEqual([
          422,
          "bad_structure",
        ]);
      }
    },
  );
});
