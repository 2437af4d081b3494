import { expect, it } from "vitest";
import { priceChart } from "./price-chart.ts";

type Sales = Parameters<typeof priceChart>[0];

const soldFor = (symbol: string | null) => [{ currency: { symbol } }] as unknown as Sales;
const textOf = (sales: Sales) => priceChart(sales, { id: "chart", now: new Date() }).text;

it("tells a token without a sale from one whose sales were paid in other currencies", () => {
  expect(textOf([])).toContain("No sale is known.");
  expect(textOf(soldFor(null))).toContain(
    "Its sales were paid in other currencies and are not drawn.",
  );
});
