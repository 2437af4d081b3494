import { sql } from "kysely";
import {
  type Address,
  concatHex,
  type Hex,
  numberToHex,
  pad,
  parseEther,
  toEventSelector,
  zeroHash,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seaportEvents } from "#abis/seaport.ts";
import { AskSync, BidSync } from "#api/v1/orders/sync.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { recordChain } from "#test/support/chain/chain-facts.ts";
import { openMarket } from "#test/support/chain/market.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";

let book: OrderBookFixture;
beforeAll(async () => {
  book = await openOrderBook(33139);
  await book.actors.frank.wraps(parseEther("100"));
  await book.actors.frank.allows(parseEther("100"));
  await book.catchUp();
});
afterAll(() => book?.close());
afterEach(() => {
  book.node.override = () => undefined;
});

const chainId = 33139;
const price = { priceWei: parseEther("1") };

const sync = (side: "asks" | "bids", id: string, body: object = {}) =>
  book.post(`/v1/orders/${side}/${id}/sync`, { chainId, ...body });

async function askSynced(askId: string, body: object = {}) {
  const answer = await sync("asks", askId, body);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  return AskSync.parse(answer.data);
}

async function bidSynced(bidId: string, body: object = {}) {
  const answer = await sync("bids", bidId, body);
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
  return BidSync.parse(answer.data);
}

/** From now on the node reports the current block as its latest; receipts it always returns. */
async function freezeLatest(): Promise<void> {
  const block = await book.client.request({
    method: "eth_getBlockByNumber",
    params: ["latest", false],
  });
  book.node.override = ({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: block } : undefined;
}

async function countFacts(): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(book.db);
  return rows[0]?.position ?? 0n;
}

describe("POST /v1/orders/asks/{askId}/sync", () => {
  it("reports a cancellation at once, without the transaction", async () => {
    const { alice } = book.actors;
    const order = await alice.lists(punk(1n), price);
    const askId = await book.submit(order);
    expect(await askSynced(askId)).toMatchObject({ status: "active", invalidReason: null });

    const { blockNumber } = await alice.cancels(order);

    const record = await askSynced(askId);
    expect(record).toMatchObject({
      askId,
      orderHash: askId.slice(4),
      status: "cancelled",
      invalidReason: null,
      checkedAtBlock: Number(blockNumber),
      row: { askId, status: "cancelled" },
    });
    const { data } = await book.get(`/v1/listings/${askId}?chainId=${chainId}`);
    expect(data).toEqual(record.row);
    await book.catchUp();
    expect(await askSynced(askId)).toMatchObject({ status: "cancelled" });
  });

  it("reports a cancellation that is in the log but not yet projected", async () => {
    const { alice } = book.actors;
    const order = await alice.lists(punk(1n), price);
    const askId = await book.submit(order);
    await alice.cancels(order);
    await recordChain(book.db, { chainId, rpcUrl: book.node.url });

    expect(await askSynced(askId)).toMatchObject({ status: "cancelled" });
  });

  it("is refused for a moment where the projections are late, and not answered with the status of before", async () => {
    const { alice } = book.actors;
    const order = await alice.lists(punk(1n), price);
    const askId = await book.submit(order);
    await alice.cancels(order);
    book.pauseProjections(true);
    try {
      const path = `/v1/orders/asks/${askId}/sync`;
      const { status, headers, body } = await book.api.post(path, { chainId });
      expect([status, headers.get("retry-after"), body]).toMatchObject([
        503,
        "1",
        { code: "position_not_reached" },
      ]);
    } finally {
      book.pauseProjections(false);
    }
    expect(await askSynced(askId)).toMatchObject({ status: "cancelled" });
  });

  it("trusts the receipt of a cancellation where the node's latest block is older", async () => {
    const { alice } = book.actors;
    const order = await alice.lists(punk(2n), price);
    const askId = await book.submit(order);
    await freezeLatest();
    const { transactionHash, blockNumber } = await alice.cancels(order);

    expect(await askSynced(askId)).toMatchObject({ status: "active" });
    expect(
      await askSynced(askId, { txHash: transactionHash.toUpperCase().replace("X", "x") }),
    ).toMatchObject({
      status: "cancelled",
      checkedAtBlock: Number(blockNumber),
    });
  });

  it("trusts the receipt of a counter increment", async () => {
    const { bob } = book.actors;
    const askId = await book.submit(await bob.lists(punk(7n), price));
    const other = await book.submit(await bob.lists(punk(8n), price));
    await freezeLatest();
    const { transactionHash } = await bob.incrementsCounter();
    expect(await askSynced(askId, { txHash: transactionHash })).toMatchObject({
      status: "cancelled",
    });
    const { data } = await book.get(`/v1/listings/${other}?chainId=${chainId}`);
    expect(data).toMatchObject({ status: "cancelled" });
    const later = await book.submit(await bob.lists(punk(8n), price));
    book.node.override = () => undefined;
    expect(await askSynced(later, { txHash: transactionHash })).toMatchObject({ status: "active" });
  });

  it("reports a fill, and a token that was transferred away and back", async () => {
    const { carol, dave } = book.actors;
    const bought = await carol.lists(punk(13n), price);
    const askId = await book.submit(bought);
    const { transactionHash } = await dave.buys(bought);
    expect(await askSynced(askId, { txHash: transactionHash })).toMatchObject({
      status: "filled",
      row: { quantityRemaining: 0 },
    });

    const moved = await book.submit(await carol.lists(punk(14n), price));
    await carol.transfers(punk(14n), dave);
    expect(await askSynced(moved)).toMatchObject({
      status: "inactive",
      invalidReason: "not_owner",
    });
    await dave.transfers(punk(14n), carol);
    expect(await askSynced(moved)).toMatchObject({ status: "active" });
    await carol.revokes(contracts.punks);
    expect(await askSynced(moved)).toMatchObject({ invalidReason: "not_approved" });
    await carol.approves(contracts.punks);
    expect(await askSynced(moved)).toMatchObject({ status: "active" });
    await book.catchUp();
    expect(await askSynced(moved)).toMatchObject({ status: "active" });
  });

  describe("with a receipt that proves nothing changes nothing", () => {
    let order: SignedOrder;
    let askId: string;
    beforeAll(async () => {
      order = await book.actors.erin.lists(punk(25n), price);
      askId = await book.submit(order);
    });

    async function provesNothing(txHash: Hex, id = askId) {
      const factsBefore = await countFacts();
      expect(await askSynced(id, { txHash })).toMatchObject({ status: "active" });
      expect(await countFacts()).toBe(factsBefore);
    }

    it("of an unknown transaction", () => provesNothing(zeroHash));

    it("of another chain, where the same order was cancelled", async () => {
      const elsewhere = await openMarket({ chainId: 1 });
      try {
        const { transactionHash } = await elsewhere.actors.erin.cancels(order);
        await freezeLatest();
        await provesNothing(transactionHash);
      } finally {
        await elsewhere.stop();
      }
    });

    it("of a transaction that failed", async () => {
      const cancel = await book.actors.alice.cancels(
        await book.actors.alice.lists(punk(3n), price),
      );
      const { input } = await book.client.getTransaction({ hash: cancel.transactionHash });
      await freezeLatest();
      const { status, transactionHash } = await book.client.sendTransactionSync({
        account: accounts.bob,
        chain: book.client.chain,
        to: cancel.to,
        data: input,
        gas: 500_000n,
      });
      expect(status).toBe("reverted");
      await provesNothing(transactionHash);
    });

    it("of another contract that emits the exchange's events", async () => {
      const impostor: Address = "0x0000000000000000000000000000000000badbad";
      await book.client.setCode({ address: impostor, bytecode: sayingCancelled(order) });
      await freezeLatest();
      const { status, logs, transactionHash } = await book.client.sendTransactionSync({
        account: accounts.bob,
        chain: book.client.chain,
        to: impostor,
        gas: 500_000n,
      });
      expect([status, logs.length]).toEqual(["success", 1]);
      await provesNothing(transactionHash);
    });

    it("of another order's cancellation and another maker's counter", async () => {
      const { erin, grace } = book.actors;
      const other = await erin.lists(punk(26n), price);
      await freezeLatest();
      await provesNothing((await erin.cancels(other)).transactionHash);
      await provesNothing((await grace.incrementsCounter()).transactionHash);
    });
  });

  it("rejects unknown orders and invalid input", async () => {
    const { frank } = book.actors;
    const askId = await book.submit(await frank.lists(punk(31n), price));
    const bidId = await book.submit(await frank.offers(punk(1n), price));
    for (const id of ["mkt-0x12", `mkt-${zeroHash}`, bidId]) {
      expect(await sync("asks", id)).toMatchObject({ status: 404, code: "not_found" });
    }
    expect(await sync("bids", askId)).toMatchObject({ status: 404, code: "not_found" });
    expect(await sync("asks", askId, { txHash: "0x12" })).toMatchObject({
      status: 422,
      code: "bad_structure",
    });
    expect(await book.post(`/v1/orders/asks/${askId}/sync`)).toMatchObject({
      status: 422,
      code: "unsupported_chain",
    });
    book.node.override = () => ({ error: { code: -32_000, message: "node is down" } });
    for (const body of [{}, { txHash: zeroHash }]) {
      expect(await sync("asks", askId, body)).toMatchObject({
        status: 422,
        code: "rpc_unavailable",
      });
    }
  });
});

describe("POST /v1/orders/bids/{bidId}/sync", () => {
  it("reports changes of the bidder's funds and of the offer", async () => {
    const { frank } = book.actors;
    const order = await frank.offers(punk(3n), { priceWei: parseEther("60") });
    const bidId = await book.submit(order);
    expect(await bidSynced(bidId)).toMatchObject({ status: "active", inactiveReason: null });
    await frank.allows(parseEther("59"));
    expect(await bidSynced(bidId)).toMatchObject({
      bidId,
      status: "inactive",
      inactiveReason: "insufficient_allowance",
      row: { bidId, status: "inactive" },
    });
    await frank.unwraps(parseEther("50"));
    expect(await bidSynced(bidId)).toMatchObject({ inactiveReason: "insufficient_balance" });
    await frank.wraps(parseEther("50"));
    await frank.allows(parseEther("60"));
    expect(await bidSynced(bidId)).toMatchObject({ status: "active" });
    await freezeLatest();
    const { transactionHash } = await frank.cancels(order);
    expect(await bidSynced(bidId)).toMatchObject({ status: "active" });
    expect(await bidSynced(bidId, { txHash: transactionHash })).toMatchObject({
      status: "cancelled",
    });
  });
});

describe("POST /v1/orders/{asks,bids}/{id}/cancel", () => {
  it("always rejects with cancel_on_chain", async () => {
    for (const path of [
      `/v1/orders/asks/mkt-${zeroHash}/cancel`,
      `/v1/orders/bids/mkt-${zeroHash}/cancel`,
      "/v1/orders/asks/whatever/cancel",
    ]) {
      expect(await book.post(path)).toMatchObject({ status: 409, code: "cancel_on_chain" });
    }
  });
});

/** Code that emits `OrderCancelled` of the order whenever it is called. */
function sayingCancelled({ components }: SignedOrder): Hex {
  const cancelled = seaportEvents.find(({ name }) => name === "OrderCancelled");
  if (cancelled === undefined) throw new Error("the exchange has no such event");
  const push = (word: Hex) => concatHex(["0x7f", pad(word, { size: 32 })]);
  return concatHex([
    push(orderHash(components)),
    "0x600052",
    push(components.zone),
    push(components.offerer),
    push(toEventSelector(cancelled)),
    push(numberToHex(32)),
    push("0x00"),
    "0xa300",
  ]);
}
