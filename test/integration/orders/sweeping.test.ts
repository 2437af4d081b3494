import { type Address, decodeEventLog, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import { Sweep } from "#api/v1/orders/sweep.ts";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";
import { edition, punk } from "#test/support/orders/stocked-tokens.ts";

const milli = parseEther("0.001");
const buyer = accounts.carol.address.toLowerCase() as Address;

/** Of the chain whose tests run. */
let chainId: ChainId;
let book: PartnerOrderBook;

type SweepView = z.output<typeof Sweep>;

async function sweep(body: Record<string, unknown>): Promise<SweepView> {
  const answer = await book.post("/v1/listings/sweep", { chainId, buyer, ...body });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200, success: true });
  return Sweep.parse(answer.data);
}

const idsOf = ({ items }: SweepView) => items.map(({ askId }) => askId);

/** Sends one of the transactions as it is; which orders it filled. */
async function send({ to, data, value }: SweepView["transactions"][number]) {
  const receipt = await book.client.sendTransactionSync({
    account: accounts.carol,
    chain: book.client.chain,
    ...{ to: to as Address, data: data as Hex, value: BigInt(value) },
    gas: 16_777_216n,
  });
  const filled = receipt.logs
    .filter(({ address }) => address === seaportAddresses["1.6"])
    .flatMap((log) => {
      const event = decodeEventLog({ abi: seaportEvents, ...log });
      return event.eventName === "OrderFulfilled" ? [event.args.orderHash] : [];
    });
  return { receipt, filled };
}

type Seller = "alice" | "bob" | "erin";
type Listed = { askId: string; order?: SignedOrder; tokenId: bigint; seller: Seller };

type Sale = Parameters<PartnerOrderBook["shows"]>[1];

async function showAtPartner(index: number, sale: Sale): Promise<string> {
  const isOpensea = index % 10 === 4;
  const { askId } = isOpensea
    ? await book.shows(book.opensea, sale)
    : await book.shows(book.magiceden, { ...sale, currency: "wrapped" });
  return askId;
}

function sellerOf(index: number, isPartners: boolean): Seller {
  if (index % 6 === 5 && !isPartners) return "erin";
  return index % 2 === 0 ? "alice" : "bob";
}

/** Tokens from 7,000 on at ascending prices: of three sellers, a fifth at partners, a tenth for the wrapped currency. */
async function listMany(count: number): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (let index = 0; index < count; index += 1) {
    const tokenId = 7_000n + BigInt(index);
    const isPartners = index % 5 === 4;
    const seller = sellerOf(index, isPartners);
    const maker = book.actors[seller];
    await maker.mints(punk(tokenId));
    const priceWei = BigInt(index + 1) * milli;
    if (isPartners) {
      const askId = await showAtPartner(index, {
        maker: accounts[seller],
        nft: punk(tokenId),
        priceWei,
      });
      listed.push({ askId, tokenId, seller });
    } else {
      const order = await maker.lists(punk(tokenId), { priceWei });
      listed.push({ askId: await book.submit(order), order, tokenId, seller });
    }
  }
  await book.catchUp();
  return listed;
}

const without = (ids: readonly string[], gone: readonly Listed[]) =>
  ids.filter((id) => !gone.some(({ askId }) => askId === id));

type Ending = "bought" | "cancelled" | "moved";

/** Ends the listings, each in the next of the ways. */
async function vanish(listed: readonly Listed[], endings: readonly Ending[]): Promise<void> {
  const { dave, ...actors } = book.actors;
  for (const [index, { order, tokenId, seller }] of listed.entries()) {
    if (order === undefined) throw new Error("a partner's listing cannot be ended here");
    const ways = {
      bought: () => dave.buys(order),
      cancelled: () => actors[seller].cancels(order),
      moved: () => actors[seller].transfers(punk(tokenId), dave),
    };
    await ways[endings[index % endings.length] ?? "bought"]();
  }
}

describe.each([1, 33139] as const)("a sweep on chain %i", (chain) => {
  beforeAll(async () => {
    chainId = chain;
    book = await openPartnerOrderBook(chainId);
  });
  afterAll(() => book?.close());

  it("thirty listings of all marketplaces are bought by one transaction, or what is left of them", async () => {
    const { carol, erin } = book.actors;
    const listed = await listMany(36);
    const budgetWei = 500n * milli;
    const native = { collection: contracts.punks, count: 30, currency: "native" };
    expect(idsOf(await sweep(native))).toEqual(
      listed
        .filter((_, index) => index % 10 !== 9)
        .slice(0, 30)
        .map(({ askId }) => askId),
    );
    // The wrapped currency does not suffice: others are bought.
    const poor = await sweep({ collection: contracts.punks, count: 30 });
    expect(poor.skipped.map(({ code }) => code)).toEqual(Array(3).fill("insufficient_balance"));
    expect(poor).toMatchObject({ quantity: 30, shortage: null });
    await carol.wraps(parseEther("1"));
    await carol.allows(parseEther("1"));

    const planned = await sweep({
      collection: contracts.punks,
      count: 30,
      budgetWei: `${budgetWei}`,
    });
    expect(idsOf(planned)).toEqual(listed.slice(0, 30).map(({ askId }) => askId));
    expect(planned).toMatchObject({ quantity: 30, shortage: null, skipped: [] });
    expect(planned.transactions).toHaveLength(1);
    const totals = planned.totals.map(({ wei }) => BigInt(wei));
    expect(totals).toHaveLength(2);
    expect(totals.reduce((sum, wei) => sum + wei, 0n)).toBe((30n * 31n * milli) / 2n);
    expect(planned.transactions[0]).toMatchObject({
      value: `${totals[0]}`,
      payment: { requiredWei: `${60n * milli}`, allowanceWei: `${parseEther("1")}` },
    });

    // Ten vanish: six or more before the transaction is asked for again, four while it is on its way.
    const cheapest = listed.slice(0, 30);
    const ofOthers = cheapest.filter(({ order, seller }) => order && seller !== "erin");
    const gone = [...ofOthers.slice(0, 3), ...cheapest.filter(({ seller }) => seller === "erin")];
    expect(gone.length).toBeGreaterThanOrEqual(6);
    await vanish(ofOthers.slice(0, 3), ["bought", "cancelled", "moved"]);
    // One of a partner's that authorizes each fill, and knows nothing of it yet.
    const atPartner = cheapest[4];
    if (atPartner === undefined) throw new Error("no partner's listing");
    await book.actors[atPartner.seller].transfers(punk(atPartner.tokenId), book.actors.dave);
    gone.push(atPartner);
    await erin.revokes(contracts.punks);

    // The chain is asked, whatever the projections know.
    const again = await sweep({
      collection: contracts.punks,
      askIds: idsOf(planned),
      count: 30,
      budgetWei: `${budgetWei}`,
    });
    const left = without(idsOf(planned), gone);
    expect(idsOf(again)).toEqual(left);
    expect(again.shortage).toBe("listings");
    expect(again.skipped.map(({ askId }) => askId).sort()).toEqual(
      gone.map(({ askId }) => askId).sort(),
    );
    expect(new Set(again.skipped.map(({ code }) => code))).toEqual(
      new Set(["unavailable", "inactive"]),
    );
    expect(again.transactions).toHaveLength(1);

    // Four more go while the transaction is on its way: the exchange leaves them out and returns their price.
    const late = ofOthers.slice(3, 7);
    await vanish(late, ["bought", "cancelled"]);
    const [transaction] = again.transactions;
    if (transaction === undefined) throw new Error("nothing to send");
    const before = await book.client.getBalance({ address: buyer });
    const { receipt, filled } = await send(transaction);
    expect(receipt.status).toBe("success");
    expect(receipt.gasUsed).toBeLessThan(8_000_000n);
    const bought = without(left, late);
    expect(filled.map((hash) => hash.toLowerCase()).sort()).toEqual(
      bought.map((id) => id.slice(-66)).sort(),
    );
    const costs = again.items
      .filter(({ askId, currency }) => bought.includes(askId) && currency.address === zeroAddress)
      .reduce((sum, { priceWei }) => sum + BigInt(priceWei), 0n);
    const after = await book.client.getBalance({ address: buyer });
    expect(before - after - receipt.gasUsed * receipt.effectiveGasPrice).toBe(costs);
    expect(costs <= budgetWei).toBe(true);
    const tokens = listed.filter(({ askId }) => bought.includes(askId));
    const owners = await Promise.all(tokens.map(({ tokenId }) => book.ownerOf(tokenId)));
    expect(new Set(owners.map((owner) => owner.toLowerCase()))).toEqual(new Set([buyer]));
  });

  it("of ERC-1155 listings as many units are bought as are wanted, and substitutes for those that are gone", async () => {
    const { frank, grace, dave } = book.actors;
    const cheap = await grace.lists(edition(2n), { priceWei: milli, quantity: 5n });
    const next = await frank.lists(edition(2n), { priceWei: 2n * milli, quantity: 5n });
    const last = await grace.lists(edition(3n), { priceWei: 3n * milli, quantity: 5n });
    const [a, b, c] = [await book.submit(cheap), await book.submit(next), await book.submit(last)];
    await book.catchUp();
    const asked = { collection: contracts.editions, count: 8 };
    const quantities = ({ items }: SweepView) => items.map((one) => [one.askId, one.quantity]);
    expect(quantities(await sweep(asked))).toEqual([
      [a, 5],
      [b, 3],
    ]);
    expect(quantities(await sweep({ ...asked, budgetWei: `${8n * milli}` }))).toEqual([
      [a, 5],
      [b, 1],
    ]);

    // The chain knows what the projections do not yet: two units are left of the first, the second is cancelled.
    await dave.buys(cheap, { units: 3n });
    await frank.cancels(next);
    const swept = await sweep(asked);
    expect(quantities(swept)).toEqual([
      [a, 2],
      [c, 5],
    ]);
    expect(swept).toMatchObject({
      shortage: "listings",
      skipped: [{ askId: b, code: "unavailable" }],
    });
    const [transaction] = swept.transactions;
    if (transaction === undefined) throw new Error("nothing to send");
    const { filled } = await send(transaction);
    expect(filled.map((hash) => `mkt-${hash.toLowerCase()}`)).toEqual([a, c]);
  });
});
