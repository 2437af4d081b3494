import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";

let market: ServedMarket;
beforeAll(async () => {
  market = await openServedMarket();
});
afterAll(() => market?.close());

const { punks } = contracts;
const Listings = z.object({
  data: z.array(z.looseObject({ askId: z.string(), tokenId: z.string() })),
  meta: z.looseObject({ total: z.int() }),
});
const Tokens = z.object({ data: z.array(z.looseObject({ tokenId: z.string() })) });
const TraitType = z.looseObject({
  type: z.string(),
  values: z.array(z.looseObject({ value: z.string() })),
});
const Traits = z.object({ data: z.looseObject({ traitTypes: z.array(TraitType) }) });

const ask = async (path: string) =>
  (await market.v1.get(path, { "x-api-key": market.key })).body as object;
const listingsOf = async (query: string) =>
  Listings.parse(await ask(`/v1/listings?chainId=1&per_page=100&collection=${punks}&${query}`));
const written = ([type, value]: readonly [string, string]) =>
  `traits[${encodeURIComponent(type)}]=${encodeURIComponent(value)}`;

describe("listings with traits", () => {
  it("are those of the tokens that have all of them", async () => {
    const all = await listingsOf("");
    expect(all.data.length).toBeGreaterThan(0);
    const { data } = Traits.parse(await ask(`/v1/collections/${punks}/traits?chainId=1`));
    const single = data.traitTypes.flatMap(({ type, values }) =>
      values.map(({ value }) => [[type, value] as const]),
    );
    const pairs = single.flatMap(([one]) =>
      single.flatMap(([other]) => (one && other && one[0] < other[0] ? [[one, other]] : [])),
    );
    const either = data.traitTypes
      .filter(({ values }) => values.length > 1)
      .map(({ type, values }) => values.slice(0, 2).map(({ value }) => [type, value] as const));
    expect(either.length).toBeGreaterThan(0);
    let found = 0;
    for (const traits of [...single, ...pairs, ...either, [["Fur", "none has it"] as const]]) {
      const query = traits.map(written).join("&");
      const path = `/v1/collections/${punks}/tokens?chainId=1&per_page=100&${query}`;
      const ids = new Set(Tokens.parse(await ask(path)).data.map(({ tokenId }) => tokenId));
      const expected = all.data.filter(({ tokenId }) => ids.has(tokenId)).map(({ askId }) => askId);
      const { data, meta } = await listingsOf(query);
      expect([query, data.map(({ askId }) => askId)]).toEqual([query, expected]);
      expect([query, meta.total]).toEqual([query, expected.length]);
      found += expected.length;
    }
    expect(found).toBeGreaterThan(0);
  });

  it("of several values of a type are those of the tokens with either", async () => {
    const idsOf = async (query: string) => {
      const path = `/v1/collections/${punks}/tokens?chainId=1&per_page=100&${query}`;
      return Tokens.parse(await ask(path)).data.map(({ tokenId }) => tokenId);
    };
    const [gold, brown] = [written(["Fur", "Gold"]), written(["Fur", "Brown"])];
    const both = await idsOf(`${gold}&${brown}`);
    const apart = [...(await idsOf(gold)), ...(await idsOf(brown))];
    expect(both.toSorted()).toEqual(apart.toSorted());
    const level = written(["Level", "3"]);
    expect(await idsOf(`${gold}&${level}&${brown}`)).toEqual(["3"]);
    const many = Array.from({ length: 21 }, (_, index) => written(["Level", `${index}`])).join("&");
    const { status, body } = await market.v1.get(
      `/v1/collections/${punks}/tokens?chainId=1&${many}`,
    );
    expect([status, body]).toMatchObject([422, { details: [{ field: "traits" }] }]);
  });

  it("need a collection, since a type means something else in each", async () => {
    const { status, body } = await market.v1.get("/v1/listings?chainId=1&traits[Fur]=Gold", {
      "x-api-key": market.key,
    });
    expect([status, body]).toMatchObject([
      422,
      { code: "invalid_parameters", details: [{ field: "traits", message: "needs collection" }] },
    ]);
  });
});
