import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookAlikes, nameLook } from "./name-look.ts";

const name = "Local Punks 10";

/** Every letter of `name` in each of the ways that look like it. */
const spelling = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(...[...text].map((letter) => fc.constantFrom(letter, ...imitationsOf(letter))))
    .map((letters) => letters.join(""));

function imitationsOf(letter: string): string[] {
  const wide = String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0);
  if (letter === " ") return ["", "  ", "\u00a0", "\u3000", "-", ".", "\u2014"];
  const alike = [...(lookAlikes[letter.toLowerCase().replace("i", "l")] ?? "")];
  const marked = ["\u0307", "\u0301", "\u0489", "\u200b", "\u200d", "\u00ad", "\ufe0f", "\u202e"];
  return [
    wide,
    letter.toUpperCase(),
    letter.toLowerCase(),
    ...alike,
    ...marked.map((mark) => letter + mark),
  ];
}

describe("nameLook", () => {
  it.each([
    ["Cyrillic", "L\u043ec\u0430l \u0420unks 10"],
    ["Greek", "L\u03bfcal \u03a1unks 10"],
    ["Cherokee", "\u13deocal Punks 10"],
    ["fullwidth", "\uff2c\uff4f\uff43\uff41\uff4c \uff30\uff55\uff4e\uff4b\uff53 \uff11\uff10"],
    [
      "mathematical",
      "\u{1d40b}\u{1d428}\u{1d41c}\u{1d41a}\u{1d425} \u{1d40f}\u{1d42e}\u{1d427}\u{1d424}\u{1d42c} \u{1d7cf}\u{1d7ce}",
    ],
    ["digits for letters", "L0ca1 Punks lO"],
    ["capital I for l", "LocaI Punks I0"],
    ["a bar for l", "Loca| Punks |O"],
    ["combining marks", "L\u0327oca\u0301l Pu\u0308nks 10"],
    ["composed marks", "\u013boc\u00e1l P\u00fcnks 10"],
    ["strokes", "\u0141\u00f8cal Punks 10"],
    ["not shown", "Lo\u200bcal\u200d \u2060Pu\u00adnks\u3164 1\u{e0041}0"],
    ["emoji around it", "\u2705 Local Punks 10 \u{1f525}"],
    ["case and spacing", "LOCAL-PUNKS.10"],
  ])("is that of the name for its imitation: %s", (_, imitation) => {
    expect(nameLook(imitation)).toBe(nameLook(name));
  });

  it("is that of the name for every imitation by letters that look like its own", () => {
    fc.assert(
      fc.property(spelling(name), (imitation) => {
        expect(nameLook(imitation)).toBe(nameLook(name));
      }),
    );
  });

  it("tells pairs of letters from the one that they look like, and names from each other", () => {
    expect(nameLook("Modern Corner")).toBe(nameLook("Modem Comer"));
    expect(nameLook("\u00c6ther")).toBe(nameLook("Aether"));
    for (const other of ["Local Punk 10", "Vocal Punks 10", "Local Punks 1", "Local Punks"]) {
      expect(nameLook(other)).not.toBe(nameLook(name));
    }
    expect(nameLook("\u732b\u306e\u7d75")).not.toBe(nameLook("\u72ac\u306e\u7d75"));
    expect(nameLook("\u0e01\u0e34")).not.toBe(nameLook("\u0e01\u0e38"));
  });

  it("is the same whatever form of Unicode and case the name is in, and nothing without letters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(nameLook(text.normalize("NFD"))).toBe(nameLook(text.normalize("NFC")));
        expect(nameLook(text)?.length ?? 1).toBeLessThanOrEqual(120);
      }),
    );
    for (const none of ["", " ", "\u{1f98d}", "...", "\u200b"]) expect(nameLook(none)).toBeNull();
  });
});
