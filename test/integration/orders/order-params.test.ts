import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  type LocalAccount,
  pad,
  parseEther,
  slice,
  toHex,
  zeroHash,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { parseOrderBody } from "#api/orders/intake/parse.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { registerCuratedCollections } from "#jobs/collections/register-curated.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { testFee } from "#test/support/orders/test-market.ts";

const { alice, bob } = accounts;
const creator = "0x0000000000000000000000000000000000c4ea71";
const priceWei = parseEther("1") + 7n;

let book: OrderBookFixture;

beforeAll(async () => {
  book = await openOrderBook(1);
});
afterAll(() => book?.close());

async function params(fields: Record<string, string | number | bigint>) {
  const query = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  const { status, data } = await book.get(`/v1/orders/params?${query.join("&")}`);
  expect(status).toBe(200);
  return data;
}

/** Signs the response like a wallet: fills in times and a random salt, and computes nothing. */
async function sign(
  block: Awaited<ReturnType<typeof params>>,
  account: LocalAccount,
  terms = block,
) {
  if (account.signTypedData === undefined) throw new TypeError("the account cannot sign");
  const { timestamp } = await book.client.getBlock();
  const message = {
    offerer: account.address,
    zone: block.zone,
    offer: terms.offer,
    consideration: terms.consideration,
    orderType: terms.orderType,
    startTime: String(timestamp),
    endTime: String(timestamp + 86_400n),
    zoneHash: block.zoneHash,
    salt: BigInt(`${block.saltPrefix}${"5a".repeat(28)}`).toString(),
    conduitKey: terms.conduitKey,
    counter: block.counter,
  };
  const { domain, types, primaryType } = block;
  const signature: Hex = await account.signTypedData({ domain, types, primaryType, message });
  return { parameters: message, signature };
}

/** The signed components, with integers. */
function read(signed: Awaited<ReturnType<typeof sign>>) {
  const order = parseOrderBody(signed, { chainId: 1, envelope: {} });
  if (isRejection(order)) throw new Error(order.message);
  return order;
}

/** The exchange's `validate` checks signature, counter and times of an order. */
async function isValidOnChain(signed: Awaited<ReturnType<typeof sign>>): Promise<boolean> {
  const { components, signature } = read(signed);
  const totalOriginalConsiderationItems = BigInt(components.consideration.length);
  const { result } = await book.client.simulateContract({
    account: bob,
    address: seaportAddresses["1.6"],
    abi: seaportFunctions,
    functionName: "validate",
    args: [[{ parameters: { ...components, totalOriginalConsiderationItems }, signature }]],
  });
  return result;
}

const punk = { contract: contracts.punks, tokenId: 1n, unitPriceWei: priceWei };

describe("GET /v1/orders/params", () => {
  it("returns the values of every order of the market, without querying the chain", async () => {
    const before = book.node.requests;
    const block = await params({ chainId: 1 });

    expect(block).toMatchObject({
      seaport: seaportAddresses["1.6"],
      protocol: { name: "seaport", version: "1.6", address: seaportAddresses["1.6"] },
      domain: {
        name: "Seaport",
        version: "1.6",
        chainId: 1,
        verifyingContract: seaportAddresses["1.6"],
      },
      zone: `0x${"00".repeat(20)}`,
      zoneHash: zeroHash,
      feeRecipient: testFee.recipient,
      feeBps: testFee.bps,
      bounds: { minDurationSeconds: 600, maxDurationSeconds: 15_552_000 },
      maker: null,
      counter: null,
      royalty: null,
      consideration: null,
      offers: {
        currency: { symbol: "WETH", address: wrappedNative[1] },
        conduitKey: zeroHash,
        royalty: null,
        consideration: null,
        requiredAllowanceWei: null,
        openOffersWei: null,
      },
    });
    expect(book.node.requests).toBe(before);
  });

  it("suffices to sign a listing that exchange and order book accept", async () => {
    const block = await params({ chainId: 1, maker: alice.address, ...punk });

    const signed = await sign(block, alice);

    expect(await isValidOnChain(signed)).toBe(true);
    const posted = await book.post("/v1/orders/asks", { chainId: 1, seaport: signed });
    expect(posted).toMatchObject({ status: 201, data: { status: "active" } });
    const hash = await book.client.readContract({
      address: seaportAddresses["1.6"],
      abi: seaportFunctions,
      functionName: "getOrderHash",
      args: [read(signed).components],
    });
    expect(posted.data.orderHash).toBe(hash);
  });

  it("splits the price of a unit to the wei, and multiplies by the units", async () => {
    const tokenId = 2n;
    const block = await params({
      chainId: 1,
      maker: alice.address,
      contract: contracts.editions,
      tokenId,
      quantity: 3,
      unitPriceWei: 1_000_099n,
    });

    const [feeWei, royaltyWei] = [10_000n, 50_004n];
    const netWei = 1_000_099n - feeWei - royaltyWei;
    expect(block.sellerNetWei).toBe(String(netWei));
    expect(block.legs).toEqual(
      [
        { kind: "seller", recipient: alice.address.toLowerCase(), unitWei: netWei },
        { kind: "service", recipient: testFee.recipient, unitWei: feeWei },
        { kind: "royalty", recipient: accounts.royaltyRecipient, unitWei: royaltyWei },
      ].map((leg) => ({ ...leg, unitWei: `${leg.unitWei}`, wei: `${leg.unitWei * 3n}` })),
    );
    expect(block.consideration.map((leg: { startAmount: string }) => leg.startAmount)).toEqual(
      [netWei, feeWei, royaltyWei].map((wei) => `${wei * 3n}`),
    );
    expect(block).toMatchObject({ orderType: 1, offer: [{ itemType: 3, startAmount: "3" }] });
    expect(await isValidOnChain(await sign(block, alice))).toBe(true);
  });

  it("leaves the recipient null without a maker", async () => {
    const { consideration, legs, offers, counter } = await params({ chainId: 1, ...punk });

    expect(consideration[0].recipient).toBeNull();
    expect(consideration[1].recipient).toBe(testFee.recipient);
    expect(legs[0]).toMatchObject({ kind: "seller", recipient: null });
    expect(offers.consideration[0].recipient).toBeNull();
    expect(counter).toBeNull();
  });
});

describe("the offers block", () => {
  it("suffices to sign an offer for one token that the exchange accepts", async () => {
    const block = await params({ chainId: 1, maker: bob.address, kind: "item", ...punk });

    const signed = await sign(block, bob, block.offers);

    expect(signed.parameters.consideration[0]).toMatchObject({
      itemType: 2,
      token: contracts.punks,
      identifierOrCriteria: "1",
      recipient: bob.address.toLowerCase(),
    });
    expect(await isValidOnChain(signed)).toBe(true);
  });

  it("suffices to sign a collection offer that exchange and order book accept", async () => {
    const amountWei = parseEther("0.5");
    const fields = { kind: "collection", contract: contracts.punks, unitPriceWei: amountWei };
    await book.actors.bob.wraps(amountWei);
    const block = await params({ chainId: 1, maker: bob.address, ...fields });
    expect(block.consideration).toBeNull();
    expect(block.offers).toMatchObject({
      balanceWei: `${amountWei}`,
      allowanceWei: "0",
      openOffersWei: "0",
      requiredAllowanceWei: `${amountWei}`,
      royalty: { royaltyWei: `${amountWei / 20n}`, royaltyRecipient: accounts.royaltyRecipient },
    });
    await book.actors.bob.allows(BigInt(block.offers.requiredAllowanceWei));

    const signed = await sign(block, bob, block.offers);

    expect(signed.parameters.consideration[0]).toMatchObject({
      itemType: 4,
      identifierOrCriteria: "0",
    });
    expect(await isValidOnChain(signed)).toBe(true);
    const posted = await book.post("/v1/orders/bids", { chainId: 1, seaport: signed });
    expect(posted).toMatchObject({ status: 201, data: { status: "active" } });

    const next = await params({ chainId: 1, maker: bob.address, ...fields });
    expect(next.offers).toMatchObject({
      openOffersWei: `${amountWei}`,
      requiredAllowanceWei: `${2n * amountWei}`,
      allowanceWei: `${amountWei}`,
    });
  });
});

describe("the royalty", () => {
  /** Storage slots of the ERC-2981 royalty in OpenZeppelin's contract: of every token, and of one. */
  const everyToken = toHex(6, { size: 32 });
  const oneToken = (tokenId: bigint) =>
    keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [tokenId, 7n]));

  async function setRoyalty(contract: Address, place: Hex, bps: number, recipient: Address) {
    const value = `${pad(toHex(bps), { size: 12 })}${recipient.slice(2)}` as Hex;
    await book.client.setStorageAt({ address: contract, index: place, value });
    await book.client.mine({ blocks: 1 });
  }

  it("is the contract's own for that token", async () => {
    await setRoyalty(contracts.familyOne, oneToken(2n), 1_000, creator);
    const family = { contract: contracts.familyOne, unitPriceWei: 1_000_001n };

    const [first, second] = await Promise.all(
      [1n, 2n].map((tokenId) => params({ chainId: 1, tokenId, ...family })),
    );

    expect(first.royalty).toEqual({
      royaltyWei: "50000",
      royaltyRecipient: accounts.royaltyRecipient,
      bps: 500,
      source: "erc2981",
    });
    expect(second.royalty).toEqual({
      royaltyWei: "100000",
      royaltyRecipient: creator,
      bps: 1_000,
      source: "erc2981",
    });
  });

  it("of a collection offer is that of the lowest existing token", async () => {
    const { burnable } = contracts;
    for (const tokenId of [4n, 9n]) {
      await book.actors.carol.mints({ standard: "erc721", contract: burnable, tokenId });
    }
    await setRoyalty(burnable, oneToken(9n), 1_000, creator);
    await book.catchUp();
    const ask = { chainId: 1, kind: "collection", contract: burnable, unitPriceWei: 1_000_000n };
    expect((await params(ask)).offers.royalty).toMatchObject({ royaltyWei: "50000" });

    await book.actors.carol.burns({ standard: "erc721", contract: burnable, tokenId: 4n });
    await book.catchUp();
    expect((await params(ask)).offers.royalty).toMatchObject({
      royaltyWei: "100000",
      royaltyRecipient: creator,
    });
  });

  it("is the configured one where the contract has none, else there is none", async () => {
    const { familyTwo } = contracts;
    const listing = { chainId: 1, contract: familyTwo, tokenId: 1n, unitPriceWei: 1_000_000n };
    await setRoyalty(familyTwo, everyToken, 0, `0x${"00".repeat(20)}`);
    const none = await params({ ...listing, maker: alice.address });
    expect(none.royalty).toEqual({
      royaltyWei: "0",
      royaltyRecipient: null,
      bps: 0,
      source: "none",
    });
    expect(none.consideration).toHaveLength(2);

    const curated = {
      chainId: 1 as const,
      slug: "family",
      name: "Family",
      verified: true,
      primary: contracts.familyOne,
      contracts: [contracts.familyOne, familyTwo],
      royalty: { recipient: creator as Address, bps: 250 },
    };
    expect(await registerCuratedCollections(book.db, [curated], new Date())).toBe(1);
    expect(await registerCuratedCollections(book.db, [curated], new Date())).toBe(0);
    await book.catchUp();
    const configured = await params({ ...listing, maker: alice.address });
    expect(configured.royalty).toEqual({
      royaltyWei: "25000",
      royaltyRecipient: creator,
      bps: 250,
      source: "configured",
    });
    expect(configured.consideration[2]).toMatchObject({ recipient: creator, startAmount: "25000" });
  });
});

describe("GET /v1/orders/params", () => {
  it("prices as many units as it publishes, and no more", async () => {
    const { maxQuantity } = (await params({ contract: contracts.editions, tokenId: 1n })).bounds;
    const most = await params({
      ...{ contract: contracts.editions, tokenId: 1n, unitPriceWei: 10_000n },
      quantity: BigInt(maxQuantity),
    });
    expect(most.offer[0]).toMatchObject({ startAmount: maxQuantity });
  });
});

describe("GET /v1/orders/params says what intake will say", () => {
  const blockedOf = async (fields: Parameters<typeof params>[0]) => {
    const data = await params({ unitPriceWei: priceWei, maker: alice.address, ...fields });
    const ofListing = [data.blocked, data.offer, data.consideration];
    return { ofListing, ofOffer: [data.offers.blocked, data.offers.offer], data };
  };

  it("of a token that was never minted", async () => {
    const { ofListing, ofOffer, data } = await blockedOf({ ...punk, tokenId: 987_654n });
    expect(ofListing).toEqual(["token_not_found", null, null]);
    expect(ofOffer).toEqual(["token_not_found", null]);
    expect([data.retry, data.message]).toEqual(["never", expect.stringContaining("987654")]);
  });

  it("of a contract that is not covered, of which nothing is known", async () => {
    const { ofListing, ofOffer } = await blockedOf({ contract: creator, tokenId: 1n });
    expect(ofListing).toEqual(["unknown_collection", null, null]);
    expect(ofOffer).toEqual(["unknown_collection", null]);
  });

  it("nothing where it takes the order", async () => {
    await book.actors.alice.mints({ standard: "erc721", contract: contracts.punks, tokenId: 55n });
    const { ofListing, data } = await blockedOf({ ...punk, tokenId: 55n });
    expect([ofListing[0], data.message, data.retry]).toEqual([null, null, null]);
    expect(data.offer).toHaveLength(1);
  });
});

describe("GET /v1/orders/params rejects", () => {
  it.each([
    ["a maker that is no address", "maker=alice"],
    ["a price that is no integer", "unitPriceWei=1.5"],
    ["a price beyond uint256", `unitPriceWei=${2n ** 256n}`],
    ["no units", "quantity=0"],
    ["units beyond the published bound", `quantity=${2n ** 53n}`],
    ["another kind", "kind=bundle"],
    ["a token of a collection offer", "kind=collection&tokenId=1"],
  ])("%s", async (_, query) => {
    expect(await book.get(`/v1/orders/params?${query}`)).toMatchObject({
      status: 422,
      code: "bad_structure",
    });
  });

  it("another chain", async () => {
    expect(await book.get("/v1/orders/params?chainId=5")).toMatchObject({
      status: 422,
      code: "unsupported_chain",
    });
  });

  it("while the chain is unavailable, rather than guess a counter", async () => {
    book.node.override = () => ({ error: { code: -32_000, message: "the node is down" } });
    try {
      expect(await book.get(`/v1/orders/params?maker=${alice.address}`)).toMatchObject({
        status: 422,
        code: "rpc_unavailable",
      });
      expect(await book.get("/v1/orders/params")).toMatchObject({ status: 200 });
    } finally {
      book.node.override = () => undefined;
    }
  });

  it.each([
    ["two of one token", { quantity: 2 }],
    ["a price that is too low", { unitPriceWei: 9_999n }],
    ["a price that is too high", { unitPriceWei: 10n ** 28n }],
  ])("what intake refuses: %s has nothing to sign", async (_, refused) => {
    for (const maker of [{ maker: alice.address }, {}]) {
      const block = await params({ chainId: 1, ...maker, ...punk, ...refused });
      expect([block.consideration, block.offer]).toEqual([null, null]);
      const offered = "unitPriceWei" in refused ? block.offers.consideration : null;
      expect(offered).toBeNull();
    }
  });

  it("no valid number: the largest price has nothing to sign", async () => {
    const huge = { ...punk, unitPriceWei: 2n ** 256n - 1n, quantity: 9 };
    const block = await params({ chainId: 1, maker: alice.address, ...huge });
    expect(block.consideration).toBeNull();
    const free = await params({ chainId: 1, maker: alice.address, ...punk, unitPriceWei: 0n });
    expect(free.consideration).toBeNull();
  });
});

it("salts start with the market's four bytes", async () => {
  const { saltPrefix } = await params({ chainId: 1 });
  expect(saltPrefix).toBe(slice(keccak256(toHex("mkt")), 0, 4));
});
