import { sql } from "kysely";
import { type Address, parseEther, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { criteriaTree } from "#projections/domain/seaport/criteria.ts";
import { appendObservations } from "#projections/log/append.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  type CriteriaStage,
  invalidProof,
  openCriteriaStage,
} from "#test/support/orders/criteria-stage.ts";
import { givenBid } from "#test/support/orders/order-facts.ts";

const priceWei = parseEther("1");
const list = (tokenIds: readonly bigint[]) => ({ tokenIds: tokenIds.map(String) });

describe.each([1, 33139] as const)("bids on a list of tokens, on chain %i", (chainId) => {
  let stage: CriteriaStage;
  beforeAll(async () => {
    stage = await openCriteriaStage(chainId);
  });
  afterAll(() => stage?.close());

  const bidIdOf = async (tokenIds: readonly bigint[], wei = priceWei) => {
    const order = await stage.createBid({ standard: "erc721", tokenIds, priceWei: wei });
    const { status, data } = await stage.submit(order, list(tokenIds));
    expect(status).toBe(201);
    return { order, bidId: data.bidId as string };
  };

  it("are described by root and tokens, and OpenSea's client makes the same root", async () => {
    const tokenIds = [13n, 7n, 1n, 9_999n, 8n];
    const { criteria, consideration, blocked, kind } = await stage.requirementOf({
      ...{ kind: "token-list", contract: contracts.punks, criteria: list(tokenIds) },
      ...{ amountWei: `${priceWei}`, quantity: 1 },
    });
    expect(blocked).toBeNull();
    expect(kind).toBe("token-list");
    expect(criteria).toMatchObject({ tokenIds: ["1", "7", "8", "13", "9999"], existing: 4 });
    const order = await stage.createBid({ standard: "erc721", tokenIds, priceWei });
    const signed = order.parameters.consideration[0]?.identifierOrCriteria;
    expect(BigInt(signed ?? 0)).toBe(BigInt(criteria?.root ?? 0));
    expect(consideration?.[0]?.identifierOrCriteria).toBe(`${BigInt(criteria?.root ?? 0)}`);
  });

  it.each([
    ["erc721", 7n, 8n, undefined],
    ["erc1155", 1n, 2n, 2n],
  ] as const)(
    "of %s are sold into with our data, and a wrong proof fails",
    async (standard, tokenId, second, units) => {
      const tokenIds = [tokenId, second, 77n, 1_000_000n];
      const quantity = units === undefined ? 1n : 4n;
      const order = await stage.createBid({ standard, tokenIds, priceWei, quantity });
      const submitted = await stage.submit(order, list(tokenIds));
      expect(submitted, JSON.stringify(submitted)).toMatchObject({ status: 201 });
      const { bidId } = submitted.data;
      const shown = (await stage.book.get(`/v1/bids/${bidId}?chainId=${chainId}`)).data;
      expect(shown).toMatchObject({
        ...{ kind: "token-list", tokenId: null, status: "active" },
        criteria: { root: criteriaTree(tokenIds).root, tokenCount: 4 },
      });

      const body = { fulfiller: accounts.bob.address, ...(units && { amount: Number(units) }) };
      const data = await stage.acceptData(bidId, { ...body, tokenId: `${tokenId}` });
      const [resolver] = data.criteriaResolvers;
      const wrong = (resolver?.criteriaProof ?? []).toReversed();
      const altered = { ...data, criteriaResolvers: [{ ...resolver, criteriaProof: wrong }] };
      expect(await stage.send("bob", altered)).toBe("reverted");
      const before = await stage.holds("alice", standard, tokenId);
      expect(await stage.send("bob", data)).toBe("success");
      expect(await stage.holds("alice", standard, tokenId)).toBe(before + (units ?? 1n));
    },
  );

  it.each([
    ["erc721", [9n, 10n, 13n, 500n], undefined],
    ["erc1155", [3n, 4n, 5n, 500n], 2n],
  ] as const)(
    "of %s are fulfilled by OpenSea's client with our proof, and not with another",
    async (standard, tokenIds, units) => {
      const [tokenId] = tokenIds;
      const quantity = units ?? 1n;
      const order = await stage.createBid({ standard, tokenIds, priceWei, quantity });
      const submitted = await stage.submit(order, list(tokenIds));
      expect(submitted, JSON.stringify(submitted)).toMatchObject({ status: 201 });
      const bidId = submitted.data.bidId as string;
      const data = await stage.acceptData(bidId, {
        ...{ fulfiller: accounts.bob.address, tokenId: `${tokenId}` },
        ...(units && { amount: Number(units) }),
      });
      const proof = data.criteriaResolvers[0]?.criteriaProof ?? [];
      const sale = { tokenId, proof, ...(units && { units }) };
      const wrong = stage.fulfills("bob", order, { ...sale, proof: [...proof.slice(1), zeroHash] });
      await expect(wrong).rejects.toThrow(invalidProof);
      const before = await stage.holds("alice", standard, tokenId);
      await stage.fulfills("bob", order, sale);
      expect(await stage.holds("alice", standard, tokenId)).toBe(before + quantity);
      await stage.book.catchUp();
      const { data: bid } = await stage.book.get(`/v1/bids/${bidId}?chainId=${chainId}`);
      const criteria = { root: criteriaTree(tokenIds).root, tokenCount: 4 };
      expect(bid).toMatchObject({ status: "filled", kind: "token-list", criteria });
      const of = `collection=${stage.contractOf[standard]}&token_id=${tokenId}`;
      const { data: sales } = await stage.book.get(`/v1/sales?chainId=${chainId}&${of}`);
      expect(sales[0]).toMatchObject({
        side: "bid",
        marketplace: "native",
        orderHash: bid.orderHash,
      });
    },
  );

  it("that other marketplaces took in are sales of the token that was sold", async () => {
    const tokenIds = [11n, 12n, 22n, 700n];
    const order = await stage.createBid({ standard: "erc721", tokenIds, priceWei });
    const proof = criteriaTree(tokenIds).proofOf(12n) ?? [];
    await stage.fulfills("bob", order, { tokenId: 12n, proof: [...proof] });
    await stage.book.catchUp();
    const of = `chainId=${chainId}&collection=${contracts.punks}&token_id=12`;
    const { data: sales } = await stage.book.get(`/v1/sales?${of}`);
    expect(sales[0]).toMatchObject({
      ...{ side: "bid", tokenId: "12", priceWei: `${priceWei}` },
      buyer: accounts.alice.address.toLowerCase(),
      seller: accounts.bob.address.toLowerCase(),
    });
  });

  it("count as offers on their tokens, and on no other", async () => {
    const dear = await bidIdOf([14n, 15n], parseEther("3"));
    const cheap = await bidIdOf([15n, 16n], parseEther("2"));
    const best = async (tokenId: number) =>
      (
        await stage.book.get(
          `/v1/bids/best?chainId=${chainId}&collection=${contracts.punks}&tokenId=${tokenId}`,
        )
      ).data;
    const [of14, of15, of16, of17] = await Promise.all([14, 15, 16, 17].map(best));
    expect(of14).toMatchObject({ best: { bidId: dear.bidId }, collectionOffer: null });
    expect(of15).toMatchObject({
      best: { bidId: dear.bidId },
      criteriaOffer: { bidId: dear.bidId },
    });
    expect(of16).toMatchObject({ best: { bidId: cheap.bidId }, itemOffer: null });
    expect(of17).toMatchObject({ best: null, criteriaOffer: null });

    const refused = await stage.book.post(`/v1/bids/${dear.bidId}/accept-data`, {
      ...{ chainId, fulfiller: accounts.carol.address, tokenId: "17" },
    });
    expect(refused).toMatchObject({ status: 422, code: "token_mismatch" });
    const untold = await stage.book.post(`/v1/bids/${dear.bidId}/accept-data`, {
      ...{ chainId, fulfiller: accounts.carol.address },
    });
    expect(untold).toMatchObject({ status: 422, code: "token_required" });
    const accepted = await stage.book.post("/v1/bids/best-accept-data", {
      ...{ chainId, contract: contracts.punks, tokenId: "15", fulfiller: accounts.carol.address },
    });
    expect(accepted).toMatchObject({ status: 200, data: { bidId: dear.bidId, tokenId: "15" } });

    const depth = (
      await stage.book.get(`/v1/collections/${contracts.punks}/depth?chainId=${chainId}`)
    ).data;
    expect(depth.bids.levels[0]).toMatchObject({
      ...{ priceWei: `${parseEther("3")}`, criteriaOffers: { orders: 1, units: "1" } },
      collectionOffers: { orders: 0 },
    });
    const { data: listed } = await stage.book.get(
      `/v1/bids?chainId=${chainId}&collection=${contracts.punks}&kind=token-list&sort=price_desc`,
    );
    expect(listed[0]).toMatchObject({ bidId: dear.bidId, criteria: { tokenCount: 2 } });
    const token = (
      await stage.book.get(`/v1/collections/${contracts.punks}/tokens/16?chainId=${chainId}`)
    ).data;
    expect(token.bestBid ?? token.bestOffer).toMatchObject({
      bidId: cheap.bidId,
      kind: "token-list",
    });
  });

  it("of random sets leave each token with the best of the bids that are on it", async () => {
    const random = randomFrom(chainId);
    const { db } = stage.book;
    const now = BigInt(Math.floor(Date.now() / 1_000));
    const ids = Array.from({ length: 12 }, (_, index) => BigInt(index + 25));
    const bids = Array.from({ length: 60 }, (_, salt) => {
      const on = random.pick([1, 1, 2, 3]);
      const tokenIds = random.shuffle([...ids, 5_000n, 2n ** 200n]).slice(0, random.int(1, 8));
      const bid = givenBid({
        ...(on === 1 && { tokenIds }),
        ...(on === 2 && { tokenId: random.pick(ids) }),
        ...{ chainId, maker: accounts.alice.address.toLowerCase() as Address },
        ...{ contract: contracts.punks.toLowerCase() as Address, salt: BigInt(salt) },
        ...{ unitPriceWei: parseEther("5") + BigInt(random.int(1, 90) * 10_000) },
        ...{ startTime: now - 60n, endTime: now + 86_400n, receivedAt: now },
      });
      const { tokenSet, submitted, terms } = bid;
      const covers = (id: bigint) =>
        on === 1 ? tokenIds.includes(id) : on === 3 || terms.tokenId === id;
      return { covers, terms, facts: tokenSet ? [tokenSet, submitted] : [submitted] };
    });
    await appendObservations(
      db,
      bids.flatMap(({ facts }) => facts),
    );
    await stage.book.catchUp();
    for (const id of ids) {
      const nets = bids.flatMap(({ covers, terms }) => (covers(id) ? [terms.sellerNetWei] : []));
      const best = nets.reduce((most, net) => (net > most ? net : most), 0n);
      const of = `chainId=${chainId}&collection=${contracts.punks}&tokenId=${id}`;
      const { data } = await stage.book.get(`/v1/bids/best?${of}`);
      expect(data.best.sellerNetWei, `token ${id}`).toBe(`${best}`);
      const token = await stage.book.get(
        `/v1/collections/${contracts.punks}/tokens/${id}?chainId=${chainId}`,
      );
      expect(token.data.bestOffer.bidId, `token ${id}`).toBe(data.best.bidId);
    }
  });

  it("are refused where the tokens are not those that were signed", async () => {
    const order = await stage.createBid({ standard: "erc721", tokenIds: [20n, 21n], priceWei });
    const codeOf = async (criteria?: object) => {
      const { status, code } = await stage.submit(order, criteria);
      return `${status} ${code}`;
    };
    expect(await codeOf(list([20n, 22n]))).toBe("422 bad_criteria");
    expect(await codeOf(list([20n, 21n, 21n]))).toBe("422 bad_criteria");
    expect(await codeOf()).toBe("422 bad_criteria");
    expect(await codeOf({ tokenIds: [] })).toBe("422 bad_structure");
    const collection = await stage.createBid({ standard: "erc721", tokenIds: [], priceWei });
    const { code } = await stage.submit(collection, list([20n]));
    expect(code).toBe("bad_criteria");
  });

  it("of ten thousand tokens are accepted at once, and their tokens stored once", async () => {
    const tokenIds = Array.from({ length: 10_000 }, (_, index) => BigInt(index));
    const facts = async () => {
      const { rows } = await sql<{ sets: number }>`
        select count(*)::int as sets from log.fact where kind in ${kindList("token_set_submitted")}
          and order_hash = decode(${criteriaTree(tokenIds).root.slice(2)}, 'hex')`.execute(
        stage.book.db,
      );
      return rows[0]?.sets;
    };
    const orders = [];
    for (const wei of [priceWei, priceWei + 100n])
      orders.push(await stage.createBid({ standard: "erc721", tokenIds, priceWei: wei }));
    for (const order of orders)
      expect(await stage.submit(order, list(tokenIds))).toMatchObject({ status: 201 });
    expect(await facts()).toBe(1);
    const again = await stage.createBid({
      standard: "erc721",
      tokenIds,
      priceWei: priceWei + 200n,
    });
    expect(await stage.submit(again), "their tokens are known").toMatchObject({ status: 201 });
    const tooMany = await stage.submit(again, list([...tokenIds, 10_000n]));
    expect(tooMany).toMatchObject({ status: 422, code: "bad_structure" });
  });
});
