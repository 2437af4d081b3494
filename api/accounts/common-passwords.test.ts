import { describe, expect, it } from "vitest";
import { isCommonPassword, isOwnName } from "./passwords.ts";

describe("a common password", () => {
  it.each([
    "1234567890123",
    "passwordpassword",
    "Password2024!!",
    "123qwertyuiop",
    "iloveyou1234",
    "abcabcabcabc",
    "QWERTYQWERTY",
  ])("is %s", (password) => {
    expect(isCommonPassword(password)).toBe(true);
  });

  it.each(["correct horse battery", "another password", "monkey 8492038409238", "une forêt verte"])(
    "is not %s",
    (password) => {
      expect(isCommonPassword(password)).toBe(false);
    },
  );
});

describe("an owner's own name", () => {
  it.each([
    ["ada.lovelace@example.test", "AdaLovelace1"],
    ["ada.lovelace+keys@example.test", "lovelace2024!"],
    ["ada@analytical.test", "analytical-99"],
    ["ada@analytical.test", "ada@analytical.test"],
  ])("of %s is %s", (email, password) => {
    expect(isOwnName(password, email)).toBe(true);
  });

  it.each([
    ["ada@analytical.test", "the analytical engine"],
    ["ada@analytical.test", "correct horse battery"],
    ["dev1@example.test", "correct horse battery"],
  ])("of %s is not %s", (email, password) => {
    expect(isOwnName(password, email)).toBe(false);
  });
});
