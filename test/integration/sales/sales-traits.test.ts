import { zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { appendObservations } from "#projections/log/append.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import {
  collectionsRegistered,
  dead,
  described,
  nfts,
  sameType,
} from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import { filled, givenListing, transferred } from "#test/support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
  await seed();
});
afterAll(() => reads.close());

type Attribute = { trait_type: string; value: string | number };
type Sold = { contract: string; tokenId: bigint; block: number; attributes: Attribute[] };
const sold: Sold[] = [];

/** Tokens of two contracts of a family and of one beside it; each sold now and then, some burned since. */
async function seed(): Promise<void> {
  const random = randomFrom(71);
  await reads.clear();
  const families = [nfts.kin, nfts.kinSecond, nfts.punks].map(({ address }) => address);
  const tokens = families.flatMap((contract) =>
    Array.from({ length: 30 }, (_, id) => ({
      contract,
      tokenId: BigInt(id),
      attributes: [
        { trait_type: random.pick(["Fur", "FUR", "fu r"]), value: random.pick(["Gold", "Tan"]) },
        { trait_type: "Eyes", value: random.pick(["Laser", "laser", "Sad"]) },
        { trait_type: "Level", value: random.int(1, 3) },
        ...(id === 8 ? [{ trait_type: "__proto__", value: "constructor" }] : []),
        ...(id === 7 ? [{ trait_type: "Crown", value: "100% & <more>" }] : []),
      ],
    })),
  );
  const documents = tokens.map(({ contract, tokenId, attributes }) =>
    described(contract, tokenId, attributes),
  );
  const sales = Array.from({ length: 250 }, (_, index) => {
    const token = random.pick(tokens);
    const order = givenListing({
      maker: addressOf(300),
      contract: token.contract,
      tokenId: token.tokenId,
      salt: BigInt(index),
    });
    const at = block(1, 100 + Math.floor(index / 3));
    sold.push({ ...token, block: at.number });
    return filled(order, 1n, { at, log: index });
  });
  const owned = tokens.map(({ contract, tokenId }, log) => {
    const to = tokenId % 5n === 0n ? dead : addressOf(301);
    return transferred({ contract, tokenId, from: zeroAddress, to }, { at: block(1, 5), log });
  });
  await appendEvents(reads.db, [...owned, ...sales]);
  await appendObservations(reads.db, [...collectionsRegistered(), ...documents]);
  await reads.happens();
}

const Sales = z.object({
  data: z.array(
    z.looseObject({
      saleId: z.string(),
      contract: z.string(),
      tokenId: z.string(),
      logIndex: z.number(),
    }),
  ),
  meta: z.object({
    total: z.number(),
    next_cursor: z.string().nullable(),
    page: z.number().nullable(),
  }),
});
const list = async (path: string) => Sales.parse(await reads.answer(path));

const has = ({ attributes }: Sold, type: string, value: string) =>
  attributes.some(
    (one) => sameType(one.trait_type) === sameType(type) && String(one.value) === value,
  );

function expected(
  contracts: string[] | null,
  traits: [string, string][],
  tokenId?: bigint,
): number[] {
  return sold
    .map((sale, logIndex) => ({ ...sale, logIndex }))
    .filter((sale) => contracts?.includes(sale.contract) ?? true)
    .filter((sale) => tokenId === undefined || sale.tokenId === tokenId)
    .filter((sale) =>
      // Values of one type are alternatives.
      traits.every(([type]) =>
        traits.some(([other, value]) => other === type && has(sale, type, value)),
      ),
    )
    .map(({ logIndex }) => logIndex)
    .toReversed();
}

const asked = (traits: [string, string][]) =>
  traits
    .map(([type, value]) => `&traits[${encodeURIComponent(type)}]=${encodeURIComponent(value)}`)
    .join("");

const kin = [nfts.kin.address, nfts.kinSecond.address];
const cases: [string, [string, string][], boolean][] = [
  ["one", [["fur", "Gold"]], true],
  ["one in another spelling", [["F U R", "Gold"]], true],
  [
    "two",
    [
      ["Fur", "Tan"],
      ["Eyes", "Laser"],
    ],
    true,
  ],
  ["a value of another case", [["Fur", "gold"]], false],
  ["a number", [["level", "2"]], true],
  [
    "three",
    [
      ["Fur", "Gold"],
      ["EYES", "Sad"],
      ["Level", "1"],
    ],
    true,
  ],
  ["one named as what every object has", [["__PROTO__", "constructor"]], true],
  ["one of a single token", [["crown", "100% & <more>"]], true],
  [
    "either of two values, in any number of spellings",
    [
      ["Fur", "Gold"],
      ["Fur", "Tan"],
    ],
    true,
  ],
  [
    "either of two values, and one of another type",
    [
      ["Fur", "Gold"],
      ["EYES", "Sad"],
      ["Fur", "Tan"],
    ],
    true,
  ],
  [
    "a value that nobody has, or another",
    [
      ["Fur", "Cap"],
      ["Fur", "Gold"],
    ],
    true,
  ],
  [
    "one that nobody has beside one that many have",
    [
      ["Fur", "Gold"],
      ["Hat", "Cap"],
    ],
    false,
  ],
  [
    "two that no token has together",
    [
      ["Crown", "100% & <more>"],
      ["Fur", "Gold"],
      ["Level", "9"],
    ],
    false,
  ],
];

describe.each([
  ["of a collection", "collection=kin", kin],
  ["of any collection", "chainId=1", null],
])("sales by traits %s", (_place, place, contracts) => {
  it.each(cases)(
    "are those of tokens with %s, on pages and by cursors",
    async (_, traits, some) => {
      const logs = expected(contracts, traits);
      expect(logs.length > 0).toBe(some);
      const path = `/v1/sales?${place}${asked(traits)}`;
      const whole = await list(`${path}&per_page=100`);
      expect(whole.meta.total).toBe(logs.length);
      expect(whole.data.map(({ logIndex }) => logIndex)).toEqual(logs.slice(0, 100));
      const walked: number[] = [];
      for (let next = await list(`${path}&per_page=9`); ; ) {
        walked.push(...next.data.map(({ logIndex }) => logIndex));
        expect(next.meta.total).toBe(logs.length);
        if (next.meta.next_cursor === null) break;
        next = await list(`${path}&per_page=9&cursor=${next.meta.next_cursor}`);
      }
      expect(walked).toEqual(logs);
      const paged: number[] = [];
      for (let page = 1; page * 9 - 9 < logs.length; page += 1) {
        paged.push(
          ...(await list(`${path}&per_page=9&page=${page}`)).data.map(({ logIndex }) => logIndex),
        );
      }
      expect(paged).toEqual(logs);
    },
  );

  it("are those of one token when its id is asked for too", async () => {
    const token = sold.find(
      (one) => has(one, "fur", "Gold") && kin.some((own) => own === one.contract),
    );
    const id = token?.tokenId ?? 0n;
    for (const value of ["Gold", "Tan"]) {
      const { data, meta } = await list(
        `/v1/sales?${place}&token_id=${id}${asked([["fur", value]])}`,
      );
      const logs = expected(contracts, [["fur", value]], id);
      expect(data.map(({ logIndex }) => logIndex)).toEqual(logs);
      expect(meta.total).toBe(logs.length);
    }
  });
});

describe("sales by token id", () => {
  it("are those of the id in every contract, on pages and by cursors", async () => {
    for (const id of [0n, 7n, 29n, 999n]) {
      const logs = expected(null, [], id);
      const walked: number[] = [];
      for (let next = await list(`/v1/sales?token_id=${id}&per_page=3`); ; ) {
        walked.push(...next.data.map(({ logIndex }) => logIndex));
        expect(next.meta.total).toBe(logs.length);
        if (next.meta.next_cursor === null) break;
        next = await list(`/v1/sales?token_id=${id}&per_page=3&cursor=${next.meta.next_cursor}`);
      }
      expect(walked).toEqual(logs);
    }
    expect((await list("/v1/sales?token_id=7&chainId=33139")).meta.total).toBe(0);
  });
});

describe("traits of sales", () => {
  it("take five at most, and have cursors of their own", async () => {
    const six = [1, 2, 3, 4, 5, 6].map((index): [string, string] => [`t${index}`, "x"]);
    await reads.refusal(`/v1/sales?collection=kin${asked(six)}`, 422, "invalid_parameters");
    const { meta } = await list(`/v1/sales?collection=kin&per_page=2${asked([["fur", "Gold"]])}`);
    expect(meta.next_cursor).not.toBeNull();
    const cursor = `cursor=${meta.next_cursor}`;
    await reads.refusal(`/v1/sales?collection=kin&per_page=2&${cursor}`, 422, "invalid_cursor");
    await reads.refusal(
      `/v1/sales?collection=kin&per_page=2&${cursor}${asked([["fur", "Tan"]])}`,
      422,
      "invalid_cursor",
    );
  });
});
