import type { Address, Hex } from "viem";
import { expect, it } from "vitest";
import type { Transaction } from "../plan/plan.ts";
import type { Run } from "./context.ts";
import { sendOnce } from "./transaction.ts";

const account: Address = "0x00000000000000000000000000000000000000aa";
const to: Address = "0x00000000000000000000000000000000000000bb";

type Sent = { to: Address; data: Hex; nonce: number };

/** A chain whose blocks hold one transaction each, and a wallet that sends, fails or is refused. */
function openChain() {
  const blocks: { from: Address; to: Address; input: Hex; nonce: number; hash: Hex }[] = [];
  const sent: Sent[] = [];
  const simulated: Hex[] = [];
  let stores = 0;
  let answers: ("sends" | Error)[] = [];
  const publicClient = {
    pollingInterval: 1,
    getTransactionCount: async ({ blockNumber = BigInt(blocks.length) }) => Number(blockNumber),
    getBlockNumber: async () => BigInt(blocks.length),
    getBlock: async ({ blockNumber }: { blockNumber: bigint }) => ({
      transactions: blocks.slice(Number(blockNumber) - 1, Number(blockNumber)),
    }),
    call: async ({ data }: { data: Hex }) => void simulated.push(data),
  };
  const walletClient = {
    chain: null,
    sendTransaction: async ({ to, data, nonce }: Sent) => {
      const [answer = "sends"] = answers.splice(0, 1);
      if (answer !== "sends") throw answer;
      sent.push({ to, data, nonce });
      return `0xhash${nonce}`;
    },
  };
  const run = {
    ...{
      publicClient,
      walletClient,
      account: { address: account },
      options: { mineTimeoutMs: 100 },
    },
    store: async (change: () => void) => {
      stores += 1;
      change();
    },
  } as unknown as Run;
  return {
    ...{ run, sent, simulated },
    stores: () => stores,
    answers: (...given: typeof answers) => {
      answers = given;
    },
    mine: (input: Hex) => {
      const nonce = blocks.length;
      blocks.push({ from: account, to, input, nonce, hash: `0x${nonce}ed` });
    },
  };
}

/** What the API answers at each call: other data, as with the authorizations of partners. */
function calls(...all: Hex[]) {
  return async () => ({ to, data: all.shift() ?? "0xnone", valueWei: 5n }) as const;
}

const noMoney = new Error("insufficient funds for gas");
const refused = Object.assign(new Error("no"), { code: 4001 });
type Step = { transaction?: Transaction };

it("what was not sent is made and simulated anew, with the same nonce", async () => {
  const chain = openChain();
  const step: Step = {};
  const make = calls("0x01", "0x02");
  chain.answers(noMoney);
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow("insufficient funds");
  expect(step.transaction).toMatchObject({ data: "0x01", nonce: 0 });

  await sendOnce(chain.run, step, make);
  expect(chain.simulated).toEqual(["0x01", "0x02"]);
  expect(chain.sent).toEqual([{ to, data: "0x02", nonce: 0 }]);
  expect(step.transaction).toMatchObject({ data: "0x02", nonce: 0, hash: "0xhash0" });
});

it("what comes out the same is sent without being stored again", async () => {
  const chain = openChain();
  const step: Step = {};
  const make = calls("0x01", "0x01");
  chain.answers(noMoney);
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow();
  const before = chain.stores();
  await sendOnce(chain.run, step, make);
  expect(chain.stores() - before).toBe(1);
  expect(step.transaction).toMatchObject({ data: "0x01", hash: "0xhash0" });
  expect(step.transaction).not.toHaveProperty("olderData");
});

it("an older form of it that was mined meanwhile is found, and nothing is sent", async () => {
  const chain = openChain();
  const step: Step = {};
  const make = calls("0x01", "0x02", "0x03");
  chain.answers(noMoney, noMoney);
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow();
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow();
  chain.mine("0x01");
  await sendOnce(chain.run, step, make);
  expect(step.transaction?.hash).toBe("0x0ed");
  expect(chain.sent).toEqual([]);
});

it("a refusal in the wallet forgets what it refused, and not what may have been sent before", async () => {
  const chain = openChain();
  const step: Step = {};
  const make = calls("0x01", "0x02", "0x03");
  chain.answers(refused);
  await expect(sendOnce(chain.run, step, make)).rejects.toMatchObject({ code: "refused" });
  expect(step.transaction).toBeUndefined();

  chain.answers(noMoney, refused);
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow("insufficient funds");
  await expect(sendOnce(chain.run, step, make)).rejects.toMatchObject({ code: "refused" });
  expect(step.transaction).toMatchObject({ data: "0x02", nonce: 0 });
});

it("a nonce that another transaction used is given up", async () => {
  const chain = openChain();
  const step: Step = {};
  const make = calls("0x01", "0x02");
  chain.answers(noMoney);
  await expect(sendOnce(chain.run, step, make)).rejects.toThrow();
  chain.mine("0xff");
  await sendOnce(chain.run, step, make);
  expect(chain.sent).toEqual([{ to, data: "0x02", nonce: 1 }]);
});

it("who leaves while it is simulated sends nothing", async () => {
  const chain = openChain();
  const leaving = new AbortController();
  const step: Step = {};
  const make = async () => {
    leaving.abort(new Error("left"));
    return { to, data: "0x01", valueWei: 0n } as const;
  };
  const run: Run = { ...chain.run, options: { signal: leaving.signal } };
  await expect(sendOnce(run, step, make)).rejects.toThrow("left");
  expect(chain.sent).toEqual([]);
  expect(step.transaction).toBeUndefined();
});
