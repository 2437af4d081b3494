import { Interface } from "ethers";
import { type Address, type Hex, parseEther, zeroHash } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi } from "#abis/tokens.ts";
import { OfferAcceptData } from "#api/v1/orders/accept-data.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { setPaused } from "#projections/log/operators.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { edition, punk } from "#test/support/orders/stocked-tokens.ts";

let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(33139);
  const { alice, frank } = book.actors;
  for (const bidder of [alice, frank]) {
    await bidder.wraps(parseEther("1000"));
    await bidder.allows(parseEther("1000"));
  }
  await book.catchUp();
});
afterAll(() => book?.close());
afterEach(() => {
  book.node.override = () => undefined;
});

const chainId = 33139;
const currency = wrappedNative[chainId];

const everyPunk = { standard: "erc721", contract: contracts.punks } as const;
const everyEdition = { standard: "erc1155", contract: contracts.editions } as const;

type Seller = "bob" | "carol" | "dave" | "erin" | "grace";
const fulfillerOf = (seller: Seller) => book.actors[seller].address;

type AcceptData = z.output<typeof OfferAcceptData>;

async function acceptDataOf(bidId: string, body: object): Promise<AcceptData> {
  return acceptedBy(`/v1/bids/${bidId}/accept-data`, body);
}

async function acceptedBy(path: string, body: object): Promise<AcceptData> {
  const answer = await book.post(path, { chainId, ...body });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200, success: true });
  return OfferAcceptData.parse(answer.data);
}

async function refusalOf(bidId: string, body: object): Promise<string> {
  const answer = await book.post(`/v1/bids/${bidId}/accept-data`, { chainId, ...body });
  return `${answer.status} ${answer.code}`;
}

/** Encodes the API's response with another library, as a caller would. */
const encoder = new Interface(JSON.stringify(seaportFunctions));

function calldataOf(data: AcceptData): Hex {
  const args =
    data.method === "matchAdvancedOrders"
      ? [data.orders, data.criteriaResolvers, data.fulfillments, data.recipient]
      : [data.basicOrderParameters];
  return encoder.encodeFunctionData(data.method, args) as Hex;
}

async function send(from: Seller | "alice", data: AcceptData) {
  return book.client.sendTransactionSync({
    account: accounts[from],
    chain: book.client.chain,
    to: data.to as Address,
    data: calldataOf(data),
    value: BigInt(data.value),
    gas: 1_500_000n,
  });
}

const wrappedOf = (owner: Address) =>
  book.client.readContract({
    address: currency,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });

/** Sells with the API's response; the payment must equal `sellerNetWei`. */
async function sell(from: Seller, data: AcceptData) {
  const seller = fulfillerOf(from);
  const before = await wrappedOf(seller);
  expect((await send(from, data)).status).toBe("success");
  expect(await wrappedOf(seller)).toBe(before + BigInt(data.sellerNetWei));
}

async function bidOf(bidId: string) {
  return (await book.get(`/v1/bids/${bidId}?chainId=${chainId}`)).data;
}

/** Code that returns the magic value of ERC-1271, left-aligned, to every call. */
const confirmingSignatures: Hex = "0x631626ba7e60e01b60005260206000f3";

describe("POST /v1/bids/{bidId}/accept-data", () => {
  it("returns the call that sells a token into an offer for it", async () => {
    const { alice } = book.actors;
    const bidId = await book.submit(
      await alice.offers(punk(7n), { priceWei: parseEther("3.000000000000000011") }),
    );
    const data = await acceptDataOf(bidId, { fulfiller: fulfillerOf("bob") });
    expect(data).toMatchObject({
      bidId,
      chainId,
      to: seaportAddresses["1.6"],
      value: "0",
      method: "fulfillBasicOrder_efficient_6GL6yc",
      approval: { operator: commonConduit.address, token: contracts.punks, isApproved: true },
      tokenId: "7",
      quantity: 1,
      basicOrderParameters: { fulfillerConduitKey: commonConduit.key, basicOrderType: 16 },
    });
    await sell("bob", data);
    expect(await book.ownerOf(7n)).toBe(alice.address);
    expect(await refusalOf(bidId, { fulfiller: fulfillerOf("bob") })).toBe("422 order_filled");
    await book.catchUp();
    expect(await bidOf(bidId)).toMatchObject({ status: "filled" });
  });

  it("sells all units of an offer for an ERC-1155 token at once", async () => {
    const { alice } = book.actors;
    const had = await book.unitsOf(alice.address, 1n);
    const bidId = await book.submit(
      await alice.offers(edition(1n), { priceWei: parseEther("0.7"), quantity: 3n }),
    );
    const data = await acceptDataOf(bidId, { fulfiller: fulfillerOf("bob"), tokenId: "1" });
    expect(data.quantity).toBe(3);
    await sell("bob", data);
    expect(await book.unitsOf(alice.address, 1n)).toBe(had + 3n);
  });

  it("sells a token into an offer for its collection, from its seller only and for half an hour", async () => {
    const { frank, carol } = book.actors;
    const bidId = await book.submit(
      await frank.offersForCollection({ ...everyPunk, priceWei: parseEther("2"), quantity: 2n }),
    );
    const data = await acceptDataOf(bidId, { fulfiller: fulfillerOf("carol"), tokenId: "13" });
    if (data.method !== "matchAdvancedOrders") throw new Error(data.method);
    const [own, mirror] = data.orders;
    expect(own).toMatchObject({ numerator: "1", denominator: "2" });
    expect(mirror?.parameters.offerer).toBe(carol.address.toLowerCase());
    expect(mirror?.signature).toBe("0x");
    expect(data.recipient).toBe(carol.address.toLowerCase());
    const { startTime, endTime } = mirror?.parameters ?? {};
    expect(data.validUntil).toBe(new Date(Number(endTime) * 1000).toISOString());
    const lasts = Number(endTime) - Number(startTime);
    expect(lasts).toBeGreaterThanOrEqual(1800);
    expect(lasts).toBeLessThan(1900);

    expect((await send("alice", data)).status).toBe("reverted");
    await sell("carol", data);
    expect(await book.ownerOf(13n)).toBe(frank.address);
    await book.catchUp();
    expect(await bidOf(bidId)).toMatchObject({ status: "active", quantityRemaining: 1 });
    await sell(
      "carol",
      await acceptDataOf(bidId, { fulfiller: fulfillerOf("carol"), tokenId: "14" }),
    );
    await book.catchUp();
    expect(await bidOf(bidId)).toMatchObject({ status: "filled" });
  });

  it("sells the requested number of units into an offer for an ERC-1155 collection", async () => {
    const { frank } = book.actors;
    const bidId = await book.submit(
      await frank.offersForCollection({
        ...everyEdition,
        priceWei: parseEther("0.9"),
        quantity: 6n,
      }),
    );
    const fulfiller = fulfillerOf("dave");
    const two = await acceptDataOf(bidId, { fulfiller, tokenId: "2", amount: 2 });
    await sell("dave", two);
    const one = await acceptDataOf(bidId, { fulfiller, tokenId: "3" });
    expect(BigInt(two.sellerNetWei)).toBe(2n * BigInt(one.sellerNetWei));
    await sell("dave", one);
    expect(await refusalOf(bidId, { fulfiller, tokenId: "4", amount: 4 })).toBe("422 bad_amount");
    await sell("dave", await acceptDataOf(bidId, { fulfiller, tokenId: "4", amount: 3 }));
    expect(await refusalOf(bidId, { fulfiller, tokenId: "4" })).toBe("422 order_filled");
  });

  it("reports whether the seller has approved the conduit, and does not require it", async () => {
    const { alice, erin } = book.actors;
    await erin.revokes(contracts.punks);
    const bidId = await book.submit(await alice.offers(punk(25n), { priceWei: parseEther("1") }));
    const before = await acceptDataOf(bidId, { fulfiller: erin.address });
    expect(before.approval.isApproved).toBe(false);
    expect((await send("erin", before)).status).toBe("reverted");
    await erin.approves(contracts.punks);
    await sell("erin", before);
  });

  it("rejects with a code for each reason", async () => {
    const { alice, bob } = book.actors;
    const item = await book.submit(await alice.offers(punk(8n), { priceWei: parseEther("1") }));
    const collection = await book.submit(
      await alice.offersForCollection({ ...everyPunk, priceWei: parseEther("1"), quantity: 3n }),
    );
    const units = await book.submit(
      await alice.offers(edition(5n), { priceWei: parseEther("0.1"), quantity: 61n }),
    );
    const nobody = "0x00000000000000000000000000000000000000aa";
    const fulfiller = bob.address;
    const table: [string, object, string][] = [
      ["mkt-0x12", { fulfiller }, "404 not_found"],
      [`mkt-${zeroHash}`, { fulfiller }, "404 not_found"],
      [item, {}, "422 bad_structure"],
      [item, { fulfiller: "bob" }, "422 bad_structure"],
      [item, { fulfiller, tokenId: 8 }, "422 bad_structure"],
      [item, { fulfiller, amount: 0 }, "422 bad_structure"],
      [item, { fulfiller, chainId: 5 }, "422 unsupported_chain"],
      [item, { fulfiller, tokenId: "9" }, "422 token_mismatch"],
      [item, { fulfiller, amount: 2 }, "422 bad_amount"],
      [item, { fulfiller: alice.address }, "422 self_offer"],
      [item, { fulfiller: nobody }, "422 not_owner"],
      [collection, { fulfiller }, "422 token_required"],
      [collection, { fulfiller, tokenId: "31" }, "422 not_owner"],
      [collection, { fulfiller, tokenId: "9999" }, "422 not_owner"],
      [collection, { fulfiller, tokenId: "9", amount: 2 }, "422 bad_amount"],
      [units, { fulfiller }, "422 insufficient_quantity"],
      [units, { fulfiller: nobody }, "422 not_owner"],
    ];
    for (const [bidId, body, refused] of table) {
      expect(await refusalOf(bidId, body), JSON.stringify(body)).toBe(refused);
    }
    book.node.override = () => ({ error: { code: -32_000, message: "node is down" } });
    expect(await refusalOf(item, { fulfiller })).toBe("422 rpc_unavailable");
  });

  it("rejects what the exchange would no longer fill, and updates the order book", async () => {
    const { grace } = book.actors;
    const fulfiller = fulfillerOf("bob");
    await grace.wraps(parseEther("5"));
    await grace.allows(parseEther("5"));
    await book.catchUp();
    const price = { priceWei: parseEther("4") };
    const bid = await grace.offers(punk(9n), price);
    const bidId = await book.submit(bid);

    await grace.allows(parseEther("3"));
    expect(await refusalOf(bidId, { fulfiller })).toBe("422 insufficient_allowance");
    expect(await bidOf(bidId)).toMatchObject({ inactiveReason: "insufficient_allowance" });
    await grace.unwraps(parseEther("2"));
    await grace.allows(parseEther("5"));
    await book.catchUp();
    expect(await refusalOf(bidId, { fulfiller })).toBe("422 insufficient_balance");
    await grace.wraps(parseEther("2"));
    await book.catchUp();
    expect(await bidOf(bidId)).toMatchObject({ status: "active" });

    await grace.cancels(bid);
    expect(await refusalOf(bidId, { fulfiller })).toBe("422 order_cancelled");
    expect(await bidOf(bidId)).toMatchObject({ status: "cancelled" });
    const counted = await book.submit(await grace.offers(punk(9n), price));
    await grace.incrementsCounter();
    expect(await refusalOf(counted, { fulfiller })).toBe("422 order_cancelled");
    const late = await grace.offers(punk(9n), price);
    const expired: SignedOrder = {
      ...late,
      components: { ...late.components, endTime: late.components.startTime },
    };
    expect(await refusalOf(await book.submit(expired), { fulfiller })).toBe("422 order_expired");
  });

  it("rejects a bid on a token that is burned, which is active again once it is minted", async () => {
    const { alice, bob } = book.actors;
    const fulfiller = bob.address;
    const rare = { standard: "erc721", contract: contracts.burnable, tokenId: 80n } as const;
    const lot = { standard: "erc1155", contract: contracts.editions, tokenId: 8_080n } as const;
    for (const nft of [rare, lot]) {
      await bob.mints(nft);
      await book.catchUp();
      const bidId = await book.submit(await alice.offers(nft, { priceWei: parseEther("0.1") }));
      const item = `collection=${nft.contract}&token_id=${nft.tokenId}&chainId=${chainId}`;
      const listed = async () => (await book.get(`/v1/bids?${item}`)).data;
      await acceptDataOf(bidId, { fulfiller });

      await bob.burns(nft);
      await book.catchUp();
      expect(await refusalOf(bidId, { fulfiller })).toBe("422 token_burned");
      const state = { status: "inactive", inactiveReason: "token_burned" };
      expect(await bidOf(bidId)).toMatchObject(state);
      expect(await listed()).toEqual([]);

      await bob.mints(nft);
      await book.catchUp();
      expect(await bidOf(bidId)).toMatchObject({ status: "active", inactiveReason: null });
      expect(await listed()).toMatchObject([{ bidId }]);
      await acceptDataOf(bidId, { fulfiller });
    }
  });

  it("rejects a token that its collection does not let the conduit transfer", async () => {
    const { alice, bob } = book.actors;
    const guarded = { standard: "erc721", contract: contracts.guarded, tokenId: 70n } as const;
    await bob.mints(guarded);
    const bidId = await book.submit(await alice.offers(guarded, { priceWei: parseEther("1") }));
    // Before the approval this is unknown: a simulated transfer would fail anyway.
    await acceptDataOf(bidId, { fulfiller: bob.address });
    await bob.approves(guarded.contract);
    expect(await refusalOf(bidId, { fulfiller: bob.address })).toBe("422 transfer_restricted");
  });

  it("rejects an offer of a contract that does not take the units, before an approval as well", async () => {
    const { grace, wallet } = book.actors;
    await wallet.wraps(parseEther("5"));
    await wallet.allows(parseEther("5"));
    await book.catchUp();
    const price = { priceWei: parseEther("1") };
    const bidId = await book.submit(
      await wallet.offersForCollection({ ...everyEdition, ...price }),
    );
    const body = { fulfiller: grace.address, tokenId: "1" };
    await acceptDataOf(bidId, body);
    const code = await book.client.getCode({ address: wallet.address });

    // It confirms every signature and nothing else, as a wallet that was never meant to hold such tokens.
    await book.client.setCode({ address: wallet.address, bytecode: confirmingSignatures });
    expect(await refusalOf(bidId, body)).toBe("422 transfer_restricted");
    const best = { contract: contracts.editions, tokenId: "1", fulfiller: grace.address, chainId };
    expect(await book.post("/v1/bids/best-accept-data", best)).not.toMatchObject({
      data: { bidId },
    });
    await book.client.setCode({ address: wallet.address, bytecode: code ?? "0x" });
    expect((await acceptDataOf(bidId, body)).bidId).toBe(bidId);
  });

  it("works while offers are paused", async () => {
    const { alice } = book.actors;
    const bidId = await book.submit(await alice.offers(punk(10n), { priceWei: parseEther("1") }));
    await setPaused(book.db, "offers", true);
    await acceptDataOf(bidId, { fulfiller: fulfillerOf("bob") });
    await setPaused(book.db, "offers", false);
  });
});

describe("POST /v1/bids/best-accept-data", () => {
  const best = "/v1/bids/best-accept-data";

  it("selects the fillable offer with the highest net", async () => {
    const { alice, frank, grace } = book.actors;
    const token = { ...punk(0n), contract: contracts.familyOne };
    const whole = { standard: "erc721", contract: contracts.familyOne } as const;
    await grace.wraps(parseEther("50"));
    await grace.allows(parseEther("50"));
    await book.catchUp();
    // Bob's tokens of this collection are 3 and 4.
    const low = await book.submit(
      await alice.offers({ ...token, tokenId: 3n }, { priceWei: parseEther("5") }),
    );
    const middle = await book.submit(
      await frank.offersForCollection({ ...whole, priceWei: parseEther("6") }),
    );
    const high = await book.submit(
      await grace.offersForCollection({ ...whole, priceWei: parseEther("7") }),
    );
    const ask = { contract: contracts.familyOne, tokenId: "3", fulfiller: fulfillerOf("bob") };
    expect((await acceptedBy(best, ask)).bidId).toBe(high);

    // The chain knows before the order book that the highest offer cannot be paid.
    await grace.allows(parseEther("1"));
    const requestsBefore = book.node.requests;
    const data = await acceptedBy(best, ask);
    expect(book.node.requests - requestsBefore).toBeLessThanOrEqual(4);
    expect(data.bidId).toBe(middle);
    expect(await bidOf(high)).toMatchObject({ inactiveReason: "insufficient_allowance" });
    await sell("bob", data);

    expect(await book.post(best, { chainId, ...ask })).toMatchObject({
      status: 422,
      code: "not_owner",
    });
    await frank.transfers({ ...token, tokenId: 3n }, book.actors.bob);
    await book.catchUp();
    expect((await acceptedBy(best, ask)).bidId).toBe(low);
  });

  it("leaves out the seller's own offers, however many there are", async () => {
    const { alice, bob } = book.actors;
    const whole = { standard: "erc721", contract: contracts.familyOne } as const;
    await bob.wraps(parseEther("20"));
    await bob.allows(parseEther("20"));
    await book.catchUp();
    for (let more = 0n; more < 9n; more += 1n)
      await book.submit(
        await bob.offersForCollection({ ...whole, priceWei: parseEther("8") + more * 10_000n }),
      );
    const other = await book.submit(
      await alice.offersForCollection({ ...whole, priceWei: parseEther("0.5") }),
    );
    const ask = { contract: contracts.familyOne, tokenId: "4", fulfiller: fulfillerOf("bob") };
    expect((await acceptedBy(best, ask)).bidId).toBe(other);
  });

  it("goes on to the next offers where one maker has spoiled the best", async () => {
    const { alice, erin } = book.actors;
    const whole = { standard: "erc721", contract: contracts.familyOne } as const;
    await erin.wraps(parseEther("20"));
    await erin.allows(parseEther("20"));
    await book.catchUp();
    for (let more = 0n; more < 17n; more += 1n)
      await book.submit(
        await erin.offersForCollection({ ...whole, priceWei: parseEther("9") + more * 10_000n }),
      );
    const good = await book.submit(
      await alice.offersForCollection({ ...whole, priceWei: parseEther("8.5") }),
    );
    await erin.allows(0n);

    const ask = { contract: contracts.familyOne, tokenId: "4", fulfiller: fulfillerOf("bob") };
    expect((await acceptedBy(best, ask)).bidId).toBe(good);
  });

  it("responds 404 without an acceptable offer", async () => {
    const fulfiller = fulfillerOf("bob");
    for (const contract of [contracts.familyTwo, "0x00000000000000000000000000000000000000aa"]) {
      expect(await book.post(best, { chainId, contract, tokenId: "3", fulfiller })).toMatchObject({
        status: 404,
        code: "not_found",
      });
    }
  });
});
