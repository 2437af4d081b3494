import { join } from "node:path";
import fc from "fast-check";
import { formatEther } from "viem";
import { expect, it } from "vitest";
import { amount, formatNumber } from "./number.ts";

type Script = { formatNumber(value: number): string; formatEther(wei: string): string };

const script: Script = await import(join(import.meta.dirname, "../assets/number.js"));

it("the page's script writes numbers as the server does", () => {
  const values = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(values, (value) => {
      expect(script.formatNumber(value)).toBe(formatNumber(value));
    }),
  );
});

it("the page's script divides wei exactly", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (wei) => {
      expect(script.formatEther(String(wei))).toBe(formatEther(wei));
    }),
  );
});

const textOf = (markup: string) => markup.replaceAll(/<[^>]*>/g, "");

it("shows 100 USDC as what it is known to be: so many smallest units", () => {
  expect(amount({ wei: "100000000", symbol: null }).text).toBe(
    '<data class="amount" value="100000000" title="100000000 smallest units">100,000,000 <span class="unit">smallest units of another currency</span></data>',
  );
});

it("never divides an amount of unknown decimals, whatever its size", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (units) => {
      const shown = textOf(amount({ wei: String(units), symbol: null }).text);
      const [digits = ""] = shown.split(" ");
      expect(Number(digits.replaceAll(",", "")) / Number(units || 1n)).toBeCloseTo(
        units === 0n ? 0 : 1,
        2,
      );
    }),
  );
});

it("shows the chain's own coins by their 18 decimals", () => {
  const shown = amount({ wei: "1500000000000000000", symbol: "ETH", usd: 3_000 }).text;
  expect(textOf(shown)).toBe("1.5 ETH $3,000");
  expect(shown).toContain('title="1.5 ETH (1500000000000000000 wei)"');
});
