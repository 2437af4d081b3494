import { parseEther, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { appendObservations } from "#projections/log/append.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { postedIds } from "#sdk/src/viem/index.ts";
import {
  type CriteriaStage,
  invalidProof,
  openCriteriaStage,
  type Standard,
} from "#test/support/orders/criteria-stage.ts";
import { openCaller } from "../sdk/callers.ts";

const priceWei = parseEther("1");
const gold = { type: "Fur", value: "Gold" };
const blue = { type: "Eyes", value: "Blue" };

describe.each([1, 33139] as const)("bids on traits, on chain %i", (chainId) => {
  let stage: CriteriaStage;
  let fetches = 0n;

  async function describeTokens(standard: Standard, ids: readonly bigint[], furOf: Fur) {
    const facts = ids.map((tokenId) => {
      fetches += 1n;
      const contract = stage.contractOf[standard].toLowerCase() as `0x${string}`;
      const recordedAt = new Date(Number(fetches) * 1000);
      const attributes = [
        { trait_type: "Fur", value: furOf(tokenId) },
        { trait_type: "Eyes", value: tokenId % 2n === 0n ? "Blue" : "Red" },
        { trait_type: "Level", value: Number(tokenId) },
      ];
      return tokenMetadataFetched(
        { chainId, contract, tokenId, recordedAt, after: fetches },
        null,
        {
          ...{ name: `Token ${tokenId}`, description: null, image: null, animation: null },
          ...{ contentType: null, attributes },
        },
      );
    });
    await appendObservations(stage.book.db, facts);
    await stage.book.catchUp();
  }

  beforeAll(async () => {
    stage = await openCriteriaStage(chainId);
    const furOf = (tokenId: bigint) => (tokenId % 3n === 0n ? "Gold" : "Brown");
    const punks = Array.from({ length: 42 }, (_, index) => BigInt(index + 1));
    await describeTokens("erc721", punks, furOf);
    await describeTokens("erc1155", [1n, 2n, 3n, 4n, 5n, 6n], furOf);
  });
  afterAll(() => stage?.close());

  const requirementOf = (standard: Standard, traits: object[], quantity = 1) =>
    stage.requirementOf({
      ...{ kind: "trait", contract: stage.contractOf[standard], criteria: { traits } },
      ...{ amountWei: `${priceWei}`, quantity },
    });

  it.each([
    ["of one value", [gold], (id: number) => id % 3 === 0],
    ["of two traits", [gold, blue], (id: number) => id % 6 === 0],
    [
      "in any spelling of the type",
      [{ type: " fUr", value: "Gold" }],
      (id: number) => id % 3 === 0,
    ],
    ["of numbers", [{ type: "Level", min: "5", max: "8" }], (id: number) => id >= 5 && id <= 8],
    ["of numbers up to one", [{ type: "level", max: "2.5" }], (id: number) => id <= 2],
    [
      "of a number and a value",
      [{ type: "Level", min: "40" }, blue],
      (id: number) => id === 40 || id === 42,
    ],
  ] as const)("%s are for the tokens that have them", async (_, traits, has) => {
    const { blocked, criteria } = await requirementOf("erc721", [...traits]);
    const expected = Array.from({ length: 42 }, (_, index) => index + 1).filter(has);
    expect(blocked).toBeNull();
    expect(criteria).toMatchObject({
      ...{ tokenIds: expected.map(String), tokenCount: expected.length },
      existing: expected.length,
    });
  });

  it.each([
    [
      "trait",
      "traits[Fur]=Gold&traits[Eyes]=Blue",
      { traits: [gold, blue] },
      (id: number) => id % 6 === 0,
    ],
    [
      "trait",
      "traits[Fur]=Gold&tokenIds=6,3",
      { traits: [gold], tokenIds: ["3", "6"] },
      (id: number) => id === 3 || id === 6,
    ],
    [
      "token-list",
      "tokenIds=41,2,9",
      { tokenIds: ["2", "9", "41"] },
      (id: number) => [2, 9, 41].includes(id),
    ],
  ] as const)(
    "of kind %s are described by a query (%s) as by a body",
    async (kind, of, criteria, has) => {
      const contract = stage.contractOf.erc721;
      const asked = `kind=${kind}&contract=${contract}&unitPriceWei=${priceWei}&maker=${accounts.alice.address}`;
      const { data } = await stage.book.get(`/v1/orders/params?chainId=${chainId}&${asked}&${of}`);
      const ids = Array.from({ length: 42 }, (_, index) => index + 1).filter(has);
      expect(data.offers.criteria).toMatchObject({
        ...{ tokenIds: ids.map(String), tokenCount: ids.length, existing: ids.length },
        traits: kind === "trait" ? criteria.traits : null,
      });
      const body = await stage.requirementOf({
        ...{ kind, contract, criteria, amountWei: `${priceWei}`, quantity: 1 },
      });
      expect(data.offers.criteria).toEqual(body.criteria);
      expect(data.offers.consideration).toEqual(body.consideration);
      expect(data.offers.consideration[0].identifierOrCriteria).toBe(
        `${BigInt(data.offers.criteria.root)}`,
      );
    },
  );

  it("are refused by a query that names what they are for by halves", async () => {
    const contract = stage.contractOf.erc721;
    const ask = (of: string) =>
      stage.book.get(
        `/v1/orders/params?chainId=${chainId}&contract=${contract}&unitPriceWei=${priceWei}&${of}`,
      );
    for (const of of ["kind=trait", "kind=token-list", "traits[Fur]=Gold", "tokenIds=1"])
      expect(await ask(of), of).toMatchObject({ status: 422, code: "bad_structure" });
    expect(await ask("kind=trait&traits[Fur]=Silver")).toMatchObject({
      status: 200,
      data: { offers: { blocked: "bad_criteria", criteria: null, consideration: null } },
    });
  });

  it("on traits that no token has are blocked", async () => {
    const none = await requirementOf("erc721", [gold, { type: "Fur", value: "Silver" }]);
    expect(none).toMatchObject({ blocked: "bad_criteria", criteria: null, consideration: null });
  });

  it.each([
    ["erc721", [gold, blue], "carol", 18n, undefined],
    ["erc721", [{ type: "Level", min: "13", max: "14" }], "carol", 14n, undefined],
    ["erc1155", [gold], "carol", 3n, 2n],
    ["erc1155", [gold, blue], "carol", 6n, 1n],
  ] as const)(
    "of %s by %j are sold into by seaport-js with our proof alone, within their tokens",
    async (standard, traits, seller, tokenId, units) => {
      const { criteria } = await requirementOf(standard, [...traits]);
      const tokenIds = (criteria?.tokenIds ?? []).map(BigInt);
      const quantity = units === undefined ? 1n : 4n;
      const order = await stage.createBid({ standard, tokenIds, priceWei, quantity });
      const submitted = await stage.submit(order, { traits });
      expect(submitted, JSON.stringify(submitted)).toMatchObject({ status: 201 });
      const { bidId } = submitted.data;
      const { data: shown } = await stage.book.get(`/v1/bids/${bidId}?chainId=${chainId}`);
      expect(shown).toMatchObject({
        ...{ kind: "trait", tokenId: null },
        criteria: { root: criteria?.root, matchingCount: tokenIds.length, traits },
      });

      const fulfiller = accounts[seller].address;
      const amount = units === undefined ? {} : { amount: Number(units) };
      const outside = { chainId, fulfiller, tokenId: "1", ...amount };
      const refused = await stage.book.post(`/v1/bids/${bidId}/accept-data`, outside);
      expect(refused).toMatchObject({ status: 422, code: "token_mismatch" });

      const data = await stage.acceptData(bidId, { fulfiller, tokenId: `${tokenId}`, ...amount });
      const before = await stage.holds("alice", standard, tokenId);
      const proof = data.criteriaResolvers[0]?.criteriaProof ?? [];
      const sale = { tokenId, proof, ...(units && { units }) };
      const wrong = stage.fulfills(seller, order, { ...sale, proof: [...proof, zeroHash] });
      await expect(wrong).rejects.toThrow(invalidProof);
      await stage.fulfills(seller, order, sale);
      expect(await stage.holds("alice", standard, tokenId)).toBe(before + (units ?? 1n));
    },
  );

  it("are made and accepted with the client, on traits and on a list", async () => {
    const { api, client, node } = stage.book;
    const testChain = { baseUrl: api.url, chainId, client, rpcUrl: node.url } as never;
    const [alice, dave] = [openCaller(testChain, "alice"), openCaller(testChain, "dave")];
    const terms = { contract: contracts.punks, unitPriceWei: priceWei };
    const traits = [{ type: "Level", min: "19", max: "24" }];
    const made = await alice.trader.offer([
      { ...terms, traits },
      { ...terms, tokenIds: [22n, 2_000n] },
    ]);
    const [onTraits = "", onList = ""] = postedIds(made);
    const shown = async (id: string) =>
      (await stage.book.get(`/v1/bids/${id}?chainId=${chainId}`)).data;
    expect(await shown(onTraits)).toMatchObject({ kind: "trait", criteria: { tokenCount: 6 } });
    expect(await shown(onList)).toMatchObject({ kind: "token-list", criteria: { tokenCount: 2 } });
    await dave.trader.accept({ bidId: onList, tokenId: 22n });
    expect(await stage.holds("alice", "erc721", 22n)).toBe(1n);
  });

  it("keep their tokens when metadata changes, and say how many still have the traits", async () => {
    const wei = parseEther("2");
    const traits = [gold, { type: "Level", min: "30", max: "40" }];
    const tokenIds = [30n, 33n, 36n, 39n];
    const order = await stage.createBid({ standard: "erc721", tokenIds, priceWei: wei });
    const late = await stage.createBid({ standard: "erc721", tokenIds, priceWei: wei + 100n });
    const { data } = await stage.submit(order, { traits });
    await describeTokens("erc721", [33n, 36n], () => "Brown");

    const { data: bid } = await stage.book.get(`/v1/bids/${data.bidId}?chainId=${chainId}`);
    expect(bid.criteria).toMatchObject({ tokenCount: 4, matchingCount: 2 });
    const best = await stage.book.get(
      `/v1/bids/best?chainId=${chainId}&collection=${contracts.punks}&tokenId=33`,
    );
    expect(best.data.best).toMatchObject({ bidId: data.bidId });

    const names = tokenIds.map(String);
    expect(await stage.submit(late, { traits })).toMatchObject({ code: "bad_criteria" });
    expect(await stage.submit(late, { traits, tokenIds: names })).toMatchObject({
      code: "bad_criteria",
    });
    expect(await stage.submit(late, { tokenIds: names })).toMatchObject({ status: 201 });
  });
});

type Fur = (tokenId: bigint) => string;
