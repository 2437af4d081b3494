import { join } from "node:path";
import fc from "fast-check";
import { formatEther } from "viem";
import { expect, it } from "vitest";
import { formatNumber } from "./number.ts";

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
