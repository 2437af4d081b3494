import fc from "fast-check";
import { namehash } from "viem";
import { normalize } from "viem/ens";
import { describe, expect, it } from "vitest";
import { parseEnsName } from "./ens-name.ts";
import { isRejection } from "./rejection.ts";

describe("a name that is resolved", () => {
  it.each([
    ["alice.eth", "alice.eth"],
    ["Alice.ETH", "alice.eth"],
    ["a.b.c.d.eth", "a.b.c.d.eth"],
    ["0-9.xyz", "0-9.xyz"],
    ["abc--d.eth", "abc--d.eth"],
    [`${"a.".repeat(126)}eth`, `${"a.".repeat(126)}eth`],
  ])("%s is taken as %s", (text, name) => {
    expect(parseEnsName(text)).toEqual({ name });
  });

  it.each([
    ["eth", "one label"],
    ["", "no label"],
    [".eth", "an empty label"],
    ["alice..eth", "an empty label within"],
    ["alice.eth.", "an empty label at its end"],
    ["ali ce.eth", "a space"],
    ["ali_ce.eth", "an underscore"],
    ["xn--ls8h.eth", "hyphens in third and fourth position"],
    ["ab--c.eth", "hyphens in third and fourth position"],
    ["älice.eth", "a letter beyond ASCII"],
    ["\u212Aelvin.eth", "a letter whose lower case is ASCII"],
    ["💩.eth", "an emoji"],
    ["alice\u200d.eth", "a joiner"],
    [`${"a".repeat(252)}.eth`, "256 characters"],
    [`${"a.".repeat(127)}eth`, "257 characters in 128 labels"],
  ])("%j is not: %s", (text) => {
    expect(parseEnsName(text)).toMatchObject({ rejected: "unsupported_name" });
  });

  it("is what ENSIP-15 makes of it", () => {
    const letters = fc.constantFrom(..."abcXYZ019-");
    const one = fc.array(letters, { minLength: 1, maxLength: 12 }).map((all) => all.join(""));
    const names = fc.array(one, { minLength: 2, maxLength: 4 }).map((all) => all.join("."));
    fc.assert(
      fc.property(names, (text) => {
        const parsed = parseEnsName(text);
        if (isRejection(parsed)) return text.split(".").some((part) => part.slice(2, 4) === "--");
        return namehash(parsed.name) === namehash(normalize(text));
      }),
    );
  });
});
