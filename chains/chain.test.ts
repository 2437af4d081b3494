import { expect, it } from "vitest";
import { apechain } from "./apechain.ts";
import { assertStorable, chains, ordinalOf } from "./index.ts";

it("chains that cannot be stored or told apart are refused", () => {
  const unstorable = (...changes: object[]) =>
    expect(() => assertStorable(changes.map((change) => ({ ...apechain, ...change }))));
  expect(() => assertStorable(chains)).not.toThrow();
  unstorable({ id: 11_155_111 }, { id: 2_147_483_647, ordinal: 524_287 }).not.toThrow();
  unstorable({ id: 2_147_483_648 }).toThrow("id 2147483648 is no unique number");
  unstorable({ id: 0 }).toThrow("id 0");
  unstorable({}, { ordinal: 2 }).toThrow("id 33139");
  unstorable({}, { id: 7_777_777 }).toThrow("ordinal 33139");
  unstorable({ ordinal: 524_288 }).toThrow("ordinal 524288");
  unstorable({ ordinal: 1.5 }).toThrow("ordinal 1.5");
});

it("ordinals in ids of stored blocks are what they were", () => {
  expect([ordinalOf(1), ordinalOf(33139)]).toEqual([1, 33139]);
  expect(() => ordinalOf(5)).toThrow("no chain 5");
});
