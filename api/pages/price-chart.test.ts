import { expect, it } from "vitest";
import { priceChart } from "./token-panels.ts";

type Sales = Parameters<typeof priceChart>[0];

const soldFor = (symbol: string | null) => [{ currency: { symbol } }] as unknown as Sales;
const textOf = (sales: Sales) => priceChart(sales, { id: "chart", now: new Date() }).text;

it("says that its times are UTC", () => {
  const sale = { price: 1, quantity: 1, saleId: "1", timestamp: "2026-03-05T10:30:00Z" };
  const sold = [{ ...sale, currency: { symbol: "ETH" } }] as unknown as Sales;
  expect(textOf(sold)).toMatch(/<svg class="below"[^>]*><text [^>]*>[^<]* UTC<\/text>/);
});

it("tells a token without a sale from one whose sales were paid in other currencies", () => {
  expect(textOf([])).toContain("No sale is known.");
  expect(textOf(soldFor(null))).toContain(
    "Its sales were paid in other currencies and are not drawn.",
  );
});
