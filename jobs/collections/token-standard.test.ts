import fc from "fast-check";
import { bytesToHex, encodeAbiParameters, type Hex, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { parseContractFlag, parseContractText } from "./token-standard.ts";

const asString = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);
const asBytes = (bytes: Hex) => encodeAbiParameters([{ type: "bytes" }], [bytes]);

describe("parseContractText", () => {
  it("keeps printable text of up to 256 characters, whatever its script", () => {
    const printable = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
      .filter((text) => text === text.trim() && !/\p{Cc}/u.test(text) && [...text].length <= 256);
    fc.assert(
      fc.property(
        printable.filter((text) => text !== "" && !/\p{Default_Ignorable_Code_Point}/u.test(text)),
        (text) => {
          expect(parseContractText(asString(text))).toBe(text);
        },
      ),
    );
  });

  it.each([
    ["\u200b", "\u200c", "\u200d", "\u00ad", "\u034f"],
    ["\ufe0f", "\u{e0041}", "\u3164", "\u180e", "\u202e"],
  ])("drops what is not shown, so that no name differs by it alone", (...unseen) => {
    for (const one of unseen) expect(parseContractText(asString(`Lo${one}cal`))).toBe("Local");
    for (const emoji of ["👩‍💻", "❤️", "👨🏽‍🚀"])
      expect(parseContractText(asString(emoji))).toBe(emoji);
  });

  it("makes of any answer a text that PostgreSQL stores, or null", () => {
    const answer = fc.uint8Array({ maxLength: 200 }).map((bytes) => bytesToHex(bytes));
    const wrapped = answer.map((bytes) => asBytes(bytes));
    fc.assert(
      fc.property(fc.oneof(answer, wrapped), (returned) => {
        const text = parseContractText(returned);
        if (text === null) return;
        expect([...text].length).toBeLessThanOrEqual(256);
        expect(text).not.toMatch(/\p{Cc}/u);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });

  it("cuts a text of a million characters", () => {
    expect(parseContractText(asString("🦍".repeat(1_000_000)))).toBe("🦍".repeat(256));
  });

  it("reads the bytes32 of old contracts", () => {
    expect(parseContractText(stringToHex("Maker", { size: 32 }))).toBe("Maker");
  });

  it("reads as far as the answer goes where its length lies", () => {
    const lie = `${asString("Ape").slice(0, 66)}${"f".repeat(12).padStart(64, "0")}${asString("Ape").slice(130)}`;
    expect(parseContractText(lie as Hex)).toBe("Ape");
    expect(parseContractText(`0x${"f".repeat(128)}`)).toBeNull();
  });
});

describe("parseContractFlag", () => {
  it("takes one for true, and nothing else", () => {
    const word = (hex: string): Hex => `0x${hex.padStart(64, "0")}`;
    expect(parseContractFlag(word("1"))).toBe(true);
    for (const other of [word("0"), word("2"), `0x${"f".repeat(64)}`, "0x", "0x01"] as const) {
      expect(parseContractFlag(other)).toBe(false);
    }
  });
});
