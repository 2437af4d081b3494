import { expect, it } from "vitest";
import { apechain } from "./apechain.ts";
import { assertStorable, chains } from "./index.ts";

it("chains that cannot be stored or told apart are refused", () => {
  expect(() => assertStorable(chains)).not.toThrow();
  expect(() => assertStorable([{ ...apechain, id: 11_155_111 }])).toThrow(/11155111/);
  expect(() => assertStorable([apechain, apechain])).toThrow(/33139/);
});
