import { expect, it } from "vitest";
import { callerOfInput, type UsedKey } from "./limit.ts";

const key = (id: number, accountId: number | null, isInstant: boolean): UsedKey => ({
  id,
  accountId,
  isInstant,
  scopes: null,
});

it("takes an address and all instant keys that it collects for one caller of what is shared", () => {
  const address = "127.0.2.66";
  const callers = [null, key(17, null, true), key(18, null, true), key(19, null, true)].map((one) =>
    callerOfInput({ address, key: one }),
  );
  expect(new Set(callers)).toEqual(new Set([address]));
  expect(callerOfInput({ address: "127.0.2.77", key: key(17, null, true) })).toBe("127.0.2.77");
});

it("takes the /64 of one /48 for one caller, also with instant keys", () => {
  const [one, other] = ["2001:db8:7:1::/64", "2001:db8:7:ffff::/64"];
  expect(callerOfInput({ address: one, key: key(1, null, true) })).toBe(
    callerOfInput({ address: other, key: null }),
  );
});

it("takes an account for one caller, whatever its keys and addresses, and an operator's key for itself", () => {
  const callers = [
    callerOfInput({ address: "127.0.2.1", key: key(5, 3, false) }),
    callerOfInput({ address: "127.0.2.2", key: key(6, 3, false) }),
    callerOfInput({ address: "127.0.2.1", key: key(3, null, false) }),
    callerOfInput({ address: "127.0.2.1", key: key(4, null, false) }),
  ];
  expect(callers[0]).toBe(callers[1]);
  expect(new Set(callers).size).toBe(3);
});
