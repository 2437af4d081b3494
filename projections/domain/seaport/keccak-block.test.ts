import fc from "fast-check";
import { keccak256 } from "viem";
import { expect, it } from "vitest";
import { keccakOfBlock } from "./keccak-block.ts";

it("equals viem's Keccak-256 of every message that fits a block", () => {
  const messages = fc.uint8Array({ minLength: 0, maxLength: 135 });
  fc.assert(
    fc.property(messages, (message) => {
      expect(keccakOfBlock(message)).toEqual(keccak256(message, "bytes"));
    }),
    { examples: [0, 1, 32, 64, 134, 135].map((length) => [new Uint8Array(length).fill(255)]) },
  );
});

it("refuses a longer one", () => {
  expect(() => keccakOfBlock(new Uint8Array(136))).toThrow(RangeError);
});
