import { expect, it } from "vitest";
import { activityPanel, listingsPanel, offersPanel, pricesPanel } from "./token-panels.ts";

const now = new Date("2026-03-05T10:30:00Z");

const order = (index: number) => ({
  ...{ askId: `${index}`, bidId: `${index}`, chainId: 1, maker: "0x", priceWei: "1" },
  ...{ currency: { symbol: "ETH" }, urls: { listing: "/", bid: "/" }, status: "active" },
  ...{ usd: null, quantityFillable: 1, quantityRemaining: 1, marketplace: "native" },
  ...{ sellerNetWei: "1", invalidReason: null, inactiveReason: null },
  ...{ expiresAt: now.toISOString() },
});

const sale = (index: number) => ({
  ...{ saleId: `${index}`, price: 1, quantity: 1, timestamp: now.toISOString() },
  ...{ currency: { symbol: "ETH" } },
});

const event = (index: number) => ({
  ...{ type: "transfer", chainId: 1, txHash: "0x", logIndex: index, timestamp: now.toISOString() },
  ...{ from: null, to: null, priceWei: null, currency: null, marketplace: null, saleId: null },
  ...{ orderId: null, contract: null, tokenId: null, quantity: null, orderHash: null },
});

type Panel = (answer: never, now: Date) => { readonly text: string };

const textOf = (panel: Panel, data: unknown, meta: unknown) =>
  panel({ data, meta } as never, now).text;

it.each([
  ["listings", listingsPanel, order, 20, "The first 20 of 134."],
  ["offers", offersPanel, order, 20, "The first 20 of 134."],
  ["sales", pricesPanel, sale, 50, "The newest 50 of 134 sales."],
] as const)(
  "says how many %s there are where it shows a part",
  (_name, panel, row, shown, note) => {
    const rows = Array.from({ length: shown }, (_, index) => row(index));
    expect(textOf(panel as Panel, rows, { total: 134 })).toContain(note);
    expect(textOf(panel as Panel, rows, { total: shown })).not.toContain(`${shown} of`);
  },
);

it("says that earlier events are left out", () => {
  const rows = Array.from({ length: 30 }, (_, index) => event(index));
  const note = "The newest 30 events.";
  expect(textOf(activityPanel as Panel, rows, { next_cursor: "more" })).toContain(note);
  expect(textOf(activityPanel as Panel, rows, { next_cursor: null })).not.toContain(note);
});
