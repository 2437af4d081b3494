import type { Address } from "viem";
import { expect, test } from "vitest";
import type { Observation } from "#projections/log/append.ts";
import { createChangingContracts } from "./changing-contracts.ts";

const wallet: Address = "0x01";
const other: Address = "0x02";
const minuteMs = 60_000;

function follow(changesPerHour: number) {
  let at = 1_800_000_000_000;
  const contracts = createChangingContracts(changesPerHour, () => at);
  const ask = { kind: "signature_read", maker: wallet } as never;
  return {
    mayAsk: () => contracts.mayAsk(ask),
    mayAskOther: () =>
      contracts.mayAsk({ kind: "signature_read", maker: other } as never) &&
      contracts.mayAsk({ kind: "owner_read", contract: wallet } as never),
    answers: (...amounts: bigint[]) =>
      contracts.record(
        amounts.map(
          (amount) => ({ kind: "signature_read", fromAddress: wallet, amount }) as Observation,
        ),
      ),
    pass: (minutes: number) => {
      at += minutes * minuteMs;
    },
  };
}

test("a contract that changes its mind too often is left alone for ever longer, at most an hour", () => {
  const { answers, mayAsk, mayAskOther, pass } = follow(2);
  answers(0n, 0n);
  answers(1n);
  expect(mayAsk()).toBe(true);
  let answer = 0n;
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    answers(answer);
    answer = 1n - answer;
    pass(minutes - 0.1);
    expect([minutes, mayAsk(), mayAskOther()]).toEqual([minutes, false, true]);
    pass(0.1);
    expect(mayAsk()).toBe(true);
  }
  // An hour in which it stands by its word.
  pass(60);
  answers(answer);
  expect(mayAsk()).toBe(true);
});

test("one change of many orders counts once, however many rounds it takes", () => {
  const { answers, mayAsk } = follow(1);
  for (let round = 0; round < 20; round += 1) answers(0n, 0n);
  expect(mayAsk()).toBe(true);
  // Half of them this way, half of them that way.
  answers(0n, 1n);
  expect(mayAsk()).toBe(false);
});

test("changes that are further apart than an hour count for nothing", () => {
  const { answers, mayAsk, pass } = follow(1);
  for (const answer of [0n, 1n, 0n, 1n]) {
    answers(answer);
    expect(mayAsk()).toBe(true);
    pass(61);
  }
});

test("recipients that take it once and once not are left alone, whoever else is paid by the order", () => {
  const contracts = createChangingContracts(2, () => 0);
  const order = (...recipients: Address[]) => ({
    kind: "recipients_read",
    order: {
      components: {
        consideration: recipients.map((recipient) => ({
          itemType: 0,
          startAmount: 1n,
          recipient,
        })),
      },
    },
  });
  const fact = (amount: bigint) =>
    ({
      kind: "recipients_read",
      amount,
      payload: { recipients: [other, wallet] },
      ...(amount === 0n ? { toAddress: wallet } : {}),
    }) as unknown as Observation;
  for (const amount of [0n, 1n, 0n]) contracts.record([fact(amount)]);
  expect(contracts.mayAsk(order(other, wallet) as never)).toBe(false);
  expect(contracts.mayAsk(order(other) as never)).toBe(true);
});
