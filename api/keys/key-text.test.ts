import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashKey, isKey, isSecret, makeKey, maskKeys } from "./key-text.ts";

const types = ["instant", "permanent"] as const;

describe("a secret of another kind", () => {
  it.each(["client", "bearer", "session", "link", "signIn"] as const)(
    "has the form of a key and is none: %s",
    (type) => {
      const secret = makeKey(type);

      expect([isSecret(type, secret), isKey(secret), isSecret("permanent", secret)]).toEqual([
        true,
        false,
        false,
      ]);
      expect(maskKeys(`at ${secret} there`)).toMatch(/^at mk_[a-z]+_\*{3} there$/);
    },
  );
});

describe("a key", () => {
  it("shows its type, has 256 random bits and is never issued twice", () => {
    const keys = Array.from({ length: 500 }, (_, index) => makeKey(types[index % 2] ?? "instant"));

    expect(keys[0]).toMatch(/^mk_inst_[0-9A-Za-z]{49}$/);
    expect(keys[1]).toMatch(/^mk_live_[0-9A-Za-z]{49}$/);
    expect(new Set(keys).size).toBe(500);
    expect(keys.every(isKey)).toBe(true);
  });

  it("is known for mistyped when any one character is another, or two neighbours change places", () => {
    const places = fc.nat({ max: 56 });
    const letters = fc.constantFrom(..."0Aa9Zz_");
    fc.assert(
      fc.property(fc.constantFrom(...types), places, letters, (type, place, letter) => {
        const key = makeKey(type);
        const other = key.slice(0, place) + letter + key.slice(place + 1);
        const [one = "", next = ""] = key.slice(place, place + 2);
        const turned = key.slice(0, place) + next + one + key.slice(place + 2);
        for (const text of [other, turned]) expect(isKey(text)).toBe(text === key);
      }),
    );
  });

  it.each(["", "mk_live_", "sk_live_x", `${makeKey("instant")} `, `${makeKey("instant")}, x`])(
    "is not %j",
    (text) => expect(isKey(text)).toBe(false),
  );

  it("is kept as its SHA-256", () => {
    expect(hashKey("abc").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("is masked anywhere in a text", () => {
    const [one, other] = [makeKey("instant"), makeKey("permanent")];

    expect(maskKeys(`/v1/sales?key=${one}&x=${other}`)).toBe(
      "/v1/sales?key=mk_inst_***&x=mk_live_***",
    );
  });
});
