import { describe, expect, it } from "vitest";
import {
  base32,
  codeAt,
  makeTotpSecret,
  matchingStep,
  stepAt,
  totpAddress,
} from "./second-factor.ts";

/** RFC 6238, appendix B: the seed of each algorithm, and its codes of 8 digits. */
const seeds = {
  sha1: Buffer.from("12345678901234567890"),
  sha256: Buffer.from("12345678901234567890123456789012"),
  sha512: Buffer.from("1234567890123456789012345678901234567890123456789012345678901234"),
};

const vectors = [
  [59, "94287082", "46119246", "90693936"],
  [1111111109, "07081804", "68084774", "25091201"],
  [1111111111, "14050471", "67062674", "99943326"],
  [1234567890, "89005924", "91819424", "93441116"],
  [2000000000, "69279037", "90698825", "38618901"],
  [20000000000, "65353130", "77737706", "47863826"],
] as const;

describe("a code", () => {
  it.each(vectors)("is the one of RFC 6238 at %i s", (seconds, sha1, sha256, sha512) => {
    const step = stepAt(new Date(seconds * 1000));
    const codes = (["sha1", "sha256", "sha512"] as const).map((algorithm) =>
      codeAt(seeds[algorithm], step, { algorithm, length: 8 }),
    );

    expect(codes).toEqual([sha1, sha256, sha512]);
    expect(codeAt(seeds.sha1, step)).toBe(sha1.slice(2));
  });

  it("is taken in its step and in those beside it", () => {
    const secret = makeTotpSecret();
    const time = new Date("2026-03-10T12:00:15.000Z");
    const taken = [-2, -1, 0, 1, 2].map((steps) =>
      matchingStep(secret, codeAt(secret, stepAt(time) + steps), time),
    );

    const now = stepAt(time);
    expect(taken).toEqual([null, now - 1, now, now + 1, null]);
    expect(matchingStep(secret, ` ${codeAt(secret, now).replace(/^.{3}/, "$& ")} `, time)).toBe(
      now,
    );
    expect(matchingStep(secret, "", time)).toBeNull();
  });
});

describe("a secret", () => {
  it.each([
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"],
  ])("is written in base 32 as RFC 4648 has it: %s", (text, expected) => {
    expect(base32(Buffer.from(text))).toBe(expected);
  });

  it("is in the address that programs read", () => {
    const address = new URL(totpAddress(Buffer.from("foobar"), "a+b@c.test", "api.example.test"));

    expect([address.protocol, address.pathname]).toEqual([
      "otpauth:",
      "/api.example.test:a%2Bb%40c.test",
    ]);
    expect(Object.fromEntries(address.searchParams)).toEqual({
      secret: "MZXW6YTBOI",
      issuer: "api.example.test",
    });
  });
});
