import express from "express";
import { expect, it } from "vitest";
import { type Admitted, callerOf, callerOfInput, limitRequests, type UsedKey } from "./limit.ts";
import { listen } from "./server.ts";

const key = (id: number, accountId: number | null, isInstant: boolean): UsedKey => ({
  id,
  accountId,
  isInstant,
  scopes: null,
});

/** Who takes the place of a request that is admitted so. */
async function placeOf(admission: Pick<Admitted, "caller" | "key">): Promise<string> {
  const app = express();
  const admitted = { ...admission, rateLimit: null, refund: async () => null };
  const admit = async () => admitted;
  app.use(limitRequests({ admit, admitMedia: admit, record: () => {} }));
  app.use((request, response) => void response.send(callerOf(request, response)));
  const { port, close } = await listen(app, "127.0.0.1", 0);
  try {
    return await (await fetch(`http://127.0.0.1:${port}/`)).text();
  } finally {
    await close();
  }
}

it("gives the places of requests in progress to an account, not to each of its keys", async () => {
  const places = await Promise.all([
    placeOf({ caller: "key 5", key: key(5, 3, false) }),
    placeOf({ caller: "key 6", key: key(6, 3, false) }),
    // A token of the account API.
    placeOf({ caller: "account 3", key: null }),
    placeOf({ caller: "key 7", key: key(7, 4, false) }),
    placeOf({ caller: "key 8", key: key(8, null, false) }),
    placeOf({ caller: "key 9", key: key(9, null, true) }),
  ]);
  expect(places).toEqual([
    ...["account 3", "account 3", "account 3", "account 4", "key 8"],
    "127.0.0.1",
  ]);
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
