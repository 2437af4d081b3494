import { Interface } from "ethers";
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi } from "#abis/tokens.ts";
import { BuyData } from "#api/v1/orders/buy-data.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { recheckOrders } from "#jobs/orders/recheck-contracts.ts";
import { readListingsApprovedAlone } from "#projections/orders/read-orders-without-events.ts";
import { wireOrder } from "#test/support/orders/intake-fixture.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

/** `approve(conduit, id)` of ERC-721, of which no events are indexed, in place of `setApprovalForAll`. */
const chainId = 1;
const priceWei = parseEther("0.1");
let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(chainId);
  const { alice, frank } = book.actors;
  await alice.mintsRange(contracts.punks, 1_000n, 10n);
  await alice.revokes(contracts.punks);
  await frank.wraps(parseEther("10"));
  await frank.allows(parseEther("10"));
  await book.catchUp();
});
afterAll(() => book?.close());

async function approve(tokenId: bigint, to: Address = commonConduit.address) {
  const { client } = book;
  const hash = await client.writeContract({
    account: accounts.alice,
    chain: client.chain,
    address: contracts.punks,
    abi: erc721Abi,
    functionName: "approve",
    args: [to, tokenId],
  });
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe("success");
}

async function post(tokenId: bigint) {
  const order = await book.actors.alice.lists(punk(tokenId), { priceWei });
  return book.post("/v1/orders/asks", { chainId, seaport: wireOrder(order) });
}

async function listed(tokenId: bigint): Promise<string> {
  await approve(tokenId);
  const answer = await post(tokenId);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
  expect(answer.data.status).toBe("active");
  return answer.data.askId;
}

async function stateOf(askId: string): Promise<string> {
  const { data } = await book.get(`/v1/listings/${askId}`);
  return [data.status, data.invalidReason].filter(Boolean).join(" ");
}

/** What the job does with a new block. */
async function recheck(): Promise<number> {
  const client = openChainClient({ chainId, rpcUrls: [book.node.url] });
  const found = await readListingsApprovedAlone(book.db, chainId, null, 100);
  const orders = found.map(({ orderHash }) => orderHash);
  const rechecks = [{ kinds: ["token_approval_read"], orders }] as const;
  const changed = await recheckOrders(
    book.db,
    { client, changing: createChangingContracts(100) },
    rechecks,
    new Date(),
  );
  await book.catchUp();
  return changed;
}

it("a token that is approved alone is listed and sold, one that is not is refused", async () => {
  const refused = await post(1_000n);
  expect(refused).toMatchObject({ status: 422, code: "not_approved" });
  expect(refused.message).toContain("approve(");
  const askId = await listed(1_000n);
  const { data } = await book.post(`/v1/listings/${askId}/buy-data`, {
    buyer: accounts.bob.address,
  });
  const call = BuyData.parse(data);
  const { status } = await book.client.sendTransactionSync({
    account: accounts.bob,
    chain: book.client.chain,
    to: call.to as Address,
    data: call.data as Hex,
    value: BigInt(call.value),
    gas: 1_500_000n,
  });
  expect(status).toBe("success");
  expect(await book.ownerOf(1_000n)).toBe(accounts.bob.address);
  await book.catchUp();
});

it("buying and the book follow an approval that is withdrawn and given again", async () => {
  const askId = await listed(1_001n);
  const buy = async () => {
    const { status, code } = await book.post(`/v1/listings/${askId}/buy-data`);
    return `${status} ${code ?? ""}`.trim();
  };
  expect(await buy()).toBe("200");
  await approve(1_001n, zeroAddress);
  expect(await buy()).toBe("409 inactive");
  expect(await stateOf(askId)).toBe("inactive not_approved");
  await approve(1_001n);
  expect(await recheck()).toBe(1);
  expect(await stateOf(askId)).toBe("active");
  await approve(1_001n, accounts.bob.address);
  expect(await recheck()).toBe(1);
  expect(await stateOf(askId)).toBe("inactive not_approved");
  await book.actors.alice.approves(contracts.punks);
  await book.catchUp();
  expect(await stateOf(askId)).toBe("active");
  await book.actors.alice.revokes(contracts.punks);
  await book.catchUp();
  expect(await stateOf(askId)).toBe("inactive not_approved");
});

it("a transfer ends the approval, also when the token comes back", async () => {
  const { alice, bob } = book.actors;
  const askId = await listed(1_002n);
  await alice.transfers(punk(1_002n), bob);
  await book.catchUp();
  expect(await stateOf(askId)).toBe("inactive not_owner");
  await bob.transfers(punk(1_002n), alice);
  await book.catchUp();
  expect(await stateOf(askId)).toBe("inactive not_approved");
  await approve(1_002n);
  expect(await recheck()).toBe(1);
  expect(await stateOf(askId)).toBe("active");
  expect(await recheck()).toBe(0);
});

it("a seller into an offer needs no more than it", async () => {
  const bid = await book.actors.frank.offers(punk(1_003n), { priceWei });
  const { data } = await book.post("/v1/orders/bids", { chainId, seaport: wireOrder(bid) });
  const accept = async () => {
    const path = `/v1/bids/${data.bidId}/accept-data`;
    return (await book.post(path, { chainId, fulfiller: accounts.alice.address })).data;
  };
  expect((await accept()).approval.isApproved).toBe(false);
  await approve(1_003n);
  const accepted = await accept();
  expect(accepted.approval.isApproved).toBe(true);
  const encoder = new Interface(JSON.stringify(seaportFunctions));
  const { status } = await book.client.sendTransactionSync({
    account: accounts.alice,
    chain: book.client.chain,
    to: accepted.to,
    data: encoder.encodeFunctionData(accepted.method, [accepted.basicOrderParameters]) as Hex,
    gas: 1_500_000n,
  });
  expect(status).toBe("success");
  expect(await book.ownerOf(1_003n)).toBe(accounts.frank.address);
});
