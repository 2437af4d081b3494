import { Interface } from "ethers";
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportFunctions } from "#abis/seaport.ts";
import { BuyData } from "#api/v1/orders/buy-data.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { wireOrder } from "#test/support/orders/intake-fixture.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { edition, punk } from "#test/support/orders/stocked-tokens.ts";

/*
 * Accounts with code: contracts, and plain accounts that delegate to one (EIP-7702, code 0xef0100…), which have a key and
 * code at once.
 */
const chainId = 1;
const priceWei = parseEther("0.1");
let book: OrderBookFixture;

/** Code in place of a wallet's, written by hand. */
const codes = {
  /** Takes ether and nothing else: `BareDelegate`. */
  bare: ["0x00000000000000000000000000000000000b0001", "0x36156008575f5ffd5b00"],
  /** Succeeds whatever it is asked, and answers nothing: a proxy's fallback. */
  silent: ["0x00000000000000000000000000000000000b0002", "0x00"],
  /** Answers each call with a word of ones. */
  babbling: ["0x00000000000000000000000000000000000b0003", "0x5f195f5260205ff3"],
  /** Takes nothing, not even ether. */
  closed: ["0x00000000000000000000000000000000000b0004", "0x5f5ffd"],
} as const satisfies Record<string, readonly [Address, Hex]>;
type Code = keyof typeof codes;
const codeAt = (code: Code): Address => codes[code][0];

beforeAll(async () => {
  book = await openOrderBook(chainId);
  for (const [address, bytecode] of Object.values(codes))
    await book.client.setCode({ address, bytecode });
  const { alice, bob, erin, frank } = book.actors;
  await alice.mintsEditions({ contract: contracts.editions, tokenIds: [900n], units: 1_000n });
  await alice.mintsRange(contracts.punks, 1_000n, 20n);
  await erin.mints(punk(1_100n));
  await erin.mints(edition(902n), 10n);
  await erin.mints(edition(904n), 10n);
  await erin.mints(edition(905n), 10n);
  await bob.mints(edition(903n), 10n);
  await bob.mints(punk(1_300n));
  await frank.wraps(parseEther("100"));
  await frank.allows(parseEther("100"));
  await book.catchUp();
});
afterAll(() => book?.close());

type Person = "bob" | "carol" | "dave" | "erin" | "frank";

/** The zero address ends the delegation. */
async function delegate(person: Person, contractAddress: Address) {
  const { client } = book;
  const authorization = await client.signAuthorization({
    account: accounts[person],
    contractAddress,
  });
  const { status } = await client.sendTransactionSync({
    account: accounts.deployer,
    chain: client.chain,
    to: zeroAddress,
    authorizationList: [authorization],
  });
  expect(status).toBe("success");
}

const post = (side: "asks" | "bids", order: SignedOrder) =>
  book.post(`/v1/orders/${side}`, { chainId, seaport: wireOrder(order) });

async function listed(order: SignedOrder): Promise<string> {
  const answer = await post("asks", order);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
  return answer.data.askId;
}

const buyData = (askId: string, body: object) =>
  book.post(`/v1/listings/${askId}/buy-data`, { chainId, ...body });

async function send(
  from: Person,
  { to, data, value }: { to: string; data: string; value: string },
) {
  const call = { to: to as Address, data: data as Hex, value: BigInt(value), gas: 1_500_000n };
  const account = accounts[from];
  return book.client.sendTransactionSync({ account, chain: book.client.chain, ...call });
}

async function buys(askId: string, buyer: Person) {
  const answer = await buyData(askId, { buyer: accounts[buyer].address, amount: 1 });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  expect((await send(buyer, BuyData.parse(answer.data))).status).toBe("success");
}

const encoder = new Interface(JSON.stringify(seaportFunctions));

describe("a buyer with code", () => {
  it.each(["bare", "silent", "babbling", "closed"] as const)(
    "of which %s does not take ERC-1155 units is refused, as the transaction would fail",
    async (code) => {
      const { alice } = book.actors;
      const askId = await listed(await alice.lists(edition(900n), { priceWei, quantity: 4n }));
      await delegate("dave", codeAt(code));
      for (const buyer of [accounts.dave.address, codeAt(code)]) {
        const answer = await buyData(askId, { buyer });
        expect(answer).toMatchObject({ status: 422, code: "transfer_restricted" });
        expect(answer.message).toContain(buyer.toLowerCase());
      }
      // The sender of the transaction is not named, so that nobody is asked: the exchange shows what becomes of it.
      const unnamed = await buyData(askId, {});
      expect(unnamed.status).toBe(200);
      expect((await send("dave", BuyData.parse(unnamed.data))).status).toBe("reverted");
      // Whoever pays, the recipient decides.
      const other = await buyData(askId, { buyer: accounts.erin.address });
      expect((await send("bob", BuyData.parse(other.data))).status).toBe("success");
    },
  );

  it("gets ERC-721 tokens, which the exchange transfers without asking it", async () => {
    const askId = await listed(await book.actors.alice.lists(punk(1_000n), { priceWei }));
    await delegate("dave", codeAt("bare"));
    await buys(askId, "dave");
    expect(await book.ownerOf(1_000n)).toBe(accounts.dave.address);
  });

  it("is refused for each listing of many apart", async () => {
    const { alice } = book.actors;
    const units = await listed(await alice.lists(edition(900n), { priceWei, quantity: 2n }));
    const token = await listed(await alice.lists(punk(1_001n), { priceWei }));
    await delegate("dave", codeAt("bare"));
    const answer = await book.post("/v1/listings/buy-data-bulk", {
      chainId,
      askIds: [units, token],
      buyer: accounts.dave.address,
    });
    const { listings, errors } = answer.data;
    expect(errors).toMatchObject([{ askId: units, code: "transfer_restricted" }]);
    expect(listings).toMatchObject([{ askId: token }]);
  });

  it("gets units when it takes them, and when its delegation has ended", async () => {
    const askId = await listed(
      await book.actors.alice.lists(edition(900n), { priceWei, quantity: 2n }),
    );
    const before = await book.unitsOf(accounts.dave.address, 900n);
    for (const target of [contracts.smartWallet, zeroAddress] as const) {
      await delegate("dave", target);
      await buys(askId, "dave");
    }
    expect(await book.unitsOf(accounts.dave.address, 900n)).toBe(before + 2n);
  });
});

describe("a maker with a key and code", () => {
  it("signs with its key, whatever its code says of signatures", async () => {
    const { erin } = book.actors;
    await delegate("erin", codeAt("bare"));
    const token = await listed(await erin.lists(punk(1_100n), { priceWei }));
    const units = await listed(await erin.lists(edition(902n), { priceWei, quantity: 3n }));
    await buys(token, "bob");
    await buys(units, "bob");
    expect(await book.ownerOf(1_100n)).toBe(accounts.bob.address);
  });

  it("is refused while its code takes no ether, which the exchange pays it", async () => {
    await delegate("erin", codeAt("closed"));
    const order = await book.actors.erin.lists(edition(902n), { priceWei });
    expect((await post("asks", order)).code).toBe("transfer_restricted");
    await delegate("erin", zeroAddress);
    expect((await post("asks", order)).status).toBe(201);
  });

  it("lists by a signature that only its code accepts, as long as it has that code", async () => {
    const { alice, erin } = book.actors;
    // The wallet's code names alice as its owner.
    await delegate("erin", contracts.smartWallet);
    const { components } = await erin.lists(edition(904n), { priceWei: 2n * priceWei });
    const digest = signingDigest(orderHash(components), exchangeDomain(chainId));
    const byOwner = { components, signature: await alice.sign(digest) };
    const byOther = { components, signature: await book.actors.carol.sign(digest) };
    expect((await post("asks", byOther)).code).toBe("contract_signature_invalid");
    const askId = await listed(byOwner);
    await buys(askId, "bob");
    const next = await erin.lists(edition(905n), { priceWei: 3n * priceWei });
    const nextDigest = signingDigest(orderHash(next.components), exchangeDomain(chainId));
    const nextId = await listed({ ...next, signature: await alice.sign(nextDigest) });
    for (const code of [codeAt("silent"), zeroAddress]) {
      await delegate("erin", code);
      const answer = await buyData(nextId, { buyer: accounts.bob.address });
      expect(answer).toMatchObject({ status: 409, code: "inactive" });
      const { data } = await book.get(`/v1/listings/${nextId}`);
      expect(data).toMatchObject({
        status: "inactive",
        invalidReason: "contract_signature_invalid",
      });
    }
    expect((await post("asks", { ...next, signature: "0x" })).code).toBe("missing_signature");
  });
});

describe("a bidder with code", () => {
  it("is refused for ERC-1155 units that it does not take, and gets ERC-721 tokens", async () => {
    const { frank } = book.actors;
    await delegate("frank", codeAt("bare"));
    const forUnits = await frank.offers(edition(903n), { priceWei });
    expect((await post("bids", forUnits)).code).toBe("transfer_restricted");
    const forToken = await frank.offers(punk(1_300n), { priceWei });
    const answer = await post("bids", forToken);
    expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
    const accepted = await book.post(`/v1/bids/${answer.data.bidId}/accept-data`, {
      chainId,
      fulfiller: accounts.bob.address,
    });
    expect(accepted, JSON.stringify(accepted)).toMatchObject({ status: 200 });
    const { to, basicOrderParameters } = accepted.data;
    const data = encoder.encodeFunctionData(accepted.data.method, [basicOrderParameters]);
    expect((await send("bob", { to, data, value: "0" })).status).toBe("success");
    expect(await book.ownerOf(1_300n)).toBe(accounts.frank.address);
  });

  it("is not sold units that it stopped taking", async () => {
    const { frank } = book.actors;
    await delegate("frank", zeroAddress);
    const collection = { standard: "erc1155", contract: contracts.editions } as const;
    const ids: string[] = [];
    for (const bid of [
      await frank.offers(edition(903n), { priceWei }),
      await frank.offersForCollection({ ...collection, priceWei }),
    ]) {
      const answer = await post("bids", bid);
      expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
      ids.push(answer.data.bidId);
    }
    await delegate("frank", codeAt("bare"));
    for (const id of ids) {
      const body = { chainId, fulfiller: accounts.bob.address, tokenId: "903" };
      const answer = await book.post(`/v1/bids/${id}/accept-data`, body);
      expect(answer).toMatchObject({ status: 422, code: "transfer_restricted" });
    }
  });
});
