import { type Address, erc721Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { connectMcp, type McpConnection } from "./mcp-connection.ts";

let market: ServedMarket;
let mcp: McpConnection;
beforeAll(async () => {
  market = await openServedMarket();
  const way = { transport: "HTTP", revision: "2026-07-28" } as const;
  mcp = await connectMcp(way, { url: market.v1.url, directory: "" });
});
afterAll(async () => {
  await mcp?.client.close();
  await market?.close();
});

const { punks } = contracts;
const { alice, bob, carol } = accounts;
type Person = typeof alice;

const Step = z.discriminatedUnion("action", [
  z.looseObject({
    action: z.literal("send"),
    from: z.string(),
    to: z.string(),
    data: z.string(),
    valueWei: z.string(),
  }),
  z.looseObject({
    action: z.literal("sign"),
    domain: z.any(),
    types: z.any(),
    message: z.any(),
    primaryType: z.literal("OrderComponents"),
  }),
  z.looseObject({
    action: z.literal("post"),
    url: z.url(),
    body: z.looseObject({ chainId: z.number() }),
  }),
]);
const Prepared = z.looseObject({ steps: z.array(Step).min(1) });
const Posted = z.object({
  data: z.looseObject({ askId: z.string().optional(), bidId: z.string().optional() }),
});

/** Does what the steps say with the person's own wallet; the id of what was posted. */
async function carryOut(person: Person, prepared: unknown): Promise<string | undefined> {
  let signed: { parameters: unknown; signature: Hex } | undefined;
  let id: string | undefined;
  for (const step of Prepared.parse(prepared).steps) {
    if (step.action === "send") await send(person, step);
    if (step.action === "sign") {
      const { domain, types, primaryType, message } = step;
      const signature = await person.signTypedData({ domain, types, primaryType, message });
      signed = { parameters: message, signature };
    }
    if (step.action === "post") {
      const body = { ...step.body, seaport: signed };
      const answered = await market.v1.post(new URL(step.url).pathname, body);
      expect(answered.status).toBe(201);
      const { askId, bidId } = Posted.parse(answered.body).data;
      id = askId ?? bidId;
    }
  }
  await market.book.catchUp();
  return id;
}

async function send(
  person: Person,
  step: { from: string; to: string; data: string; valueWei: string },
) {
  const { client } = market.book;
  expect(step.from.toLowerCase()).toBe(person.address.toLowerCase());
  const hash = await client.sendTransaction({
    ...{ account: person.address, to: step.to as Address, data: step.data as Hex },
    ...{ value: BigInt(step.valueWei), chain: null },
  });
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe("success");
}

const ownerOf = (tokenId: bigint) =>
  market.book.client.readContract({
    ...{ address: punks, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] },
  });

const status = async (list: "listings" | "bids", id: string | undefined) => {
  const { body } = await market.v1.get(`/v1/${list}/${id}?chainId=1`);
  return z.object({ data: z.looseObject({ status: z.string(), priceWei: z.string() }) }).parse(body)
    .data;
};

describe("prepared steps, carried out by the wallet of whom they are for", () => {
  it("buy a listing at its price", async () => {
    const asked = { askId: market.ids.ask, buyer: carol.address };
    await expect(mcp.call("prepare_purchase", { ...asked, maxPriceWei: "1" })).rejects.toThrow(
      "price_above_max",
    );
    const prepared = await mcp.call("prepare_purchase", asked);
    expect(prepared).toMatchObject({
      price: "1 ETH",
      units: "1",
      steps: [{ valueWei: `${10n ** 18n}` }],
    });
    await carryOut(carol, prepared);
    expect(await ownerOf(2n)).toBe(carol.address);
  });

  it("buy one unit of several unless more are asked for", async () => {
    const { tokens } = z
      .object({ tokens: z.array(z.looseObject({ listing: z.looseObject({ askId: z.string() }) })) })
      .parse(await mcp.call("cheapest_listings", { collection: "editions" }));
    const askId = tokens[0]?.listing.askId;
    expect(await mcp.call("prepare_purchase", { askId, buyer: bob.address })).toMatchObject({
      price: "0.1 ETH",
    });
    const three = { askId, buyer: bob.address, units: 3 };
    expect(await mcp.call("prepare_purchase", three)).toMatchObject({
      price: "0.3 ETH",
      units: "3",
    });
  });

  it("list a token, offer for it, and cancel both", async () => {
    const token = { collection: "punks", tokenId: "1" };
    const asked = { ...token, seller: carol.address, price: "1.25", days: 2 };
    const askId = await carryOut(carol, await mcp.call("prepare_listing", asked));
    expect(await status("listings", askId)).toMatchObject({
      status: "active",
      priceWei: `${125n * 10n ** 16n}`,
    });
    const offered = { ...token, bidder: bob.address, price: "0.75" };
    const bidId = await carryOut(bob, await mcp.call("prepare_offer", offered));
    expect(await status("bids", bidId)).toMatchObject({
      status: "active",
      priceWei: `${75n * 10n ** 16n}`,
    });

    const own = { orders: [askId], wallet: carol.address };
    await expect(mcp.call("prepare_cancel", { ...own, wallet: bob.address })).rejects.toThrow(
      "not_maker",
    );
    await carryOut(carol, await mcp.call("prepare_cancel", own));
    await carryOut(bob, await mcp.call("prepare_cancel", { orders: [bidId], wallet: bob.address }));
    expect((await status("listings", askId)).status).toBe("cancelled");
    expect((await status("bids", bidId)).status).toBe("cancelled");
  });

  it("offer for any token of a collection", async () => {
    const offered = { collection: "punks", bidder: bob.address, price: "0.3" };
    const bidId = await carryOut(bob, await mcp.call("prepare_offer", offered));
    const best = await mcp.call("floor_and_depth", { collection: "punks" });
    expect(best).toMatchObject({ bestOffer: { price: "0.3 ETH", bidId } });
  });

  it("are not made of what the order book would refuse", async () => {
    const foreign = { collection: "punks", tokenId: "1", seller: bob.address, price: "1" };
    await expect(mcp.call("prepare_listing", foreign)).rejects.toThrow("not_owner");
    const poor = { collection: "punks", bidder: bob.address, price: "100000000" };
    await expect(mcp.call("prepare_offer", poor)).rejects.toThrow(/insufficient_balance|price/);
  });
});
