import { expect, it } from "vitest";
import { addressOf, splitAddress } from "./position.ts";

it("splits an address at its first question mark alone", () => {
  expect(splitAddress("/v1/sales")).toEqual(["/v1/sales", ""]);
  expect(splitAddress("/v1/sales?")).toEqual(["/v1/sales", ""]);
  expect(splitAddress("/v1/sales?a=1&b=2?c=3")).toEqual(["/v1/sales", "a=1&b=2?c=3"]);
  expect(splitAddress("/v1/sales??slow=1")).toEqual(["/v1/sales", "?slow=1"]);
});

it("what a request asks for stays in its address, whatever stands beside a position", () => {
  const of = (originalUrl: string) => addressOf({ originalUrl } as never);
  expect(of("/v1/sales?min_position=5&collection=kin")).toBe("/v1/sales?collection=kin");
  expect(of("/v1/sales?min_position=5")).toBe("/v1/sales");
  expect(of("/v1/sales?min_position?&maker=0x1")).toBe("/v1/sales?min_position?&maker=0x1");
  expect(of("/v1/sales?a=1&min_position=5?&maker=0x1")).toBe("/v1/sales?a=1&maker=0x1");
});
