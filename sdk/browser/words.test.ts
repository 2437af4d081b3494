import { UserRejectedRequestError } from "viem";
import { expect, it } from "vitest";
import { MarketError } from "../src/index.ts";
import { WalletError } from "../src/viem/index.ts";
import { explain } from "./words.ts";

const ofWallet = (code: number) => Object.assign(new Error("raw"), { code });

it.each([
  ["a refusal", ofWallet(4001), "You said no in the wallet", "again"],
  [
    "one that viem wraps",
    new UserRejectedRequestError(ofWallet(4001)),
    "You said no in the wallet",
    "again",
  ],
  ["an unknown chain", ofWallet(4902), "The wallet does not know this chain", "switch"],
  ["a request that is open", ofWallet(-32_002), "The wallet is waiting for you", "again"],
  [
    "another chain",
    new WalletError("wrong_chain", "It is on 1"),
    "The wallet is on another chain",
    "switch",
  ],
  [
    "a price above the page's",
    new WalletError("price_limit", "It costs 2"),
    "The price has moved",
    "new_price",
  ],
  [
    "a price that the API finds too high",
    new MarketError({ status: 409, code: "price_above_max", message: "above" }),
    "The price has moved",
    "new_price",
  ],
  [
    "an answer that is not the plan's",
    new WalletError("unsafe_answer", "other"),
    "Stopped: the answer is not what was planned",
    "none",
  ],
  [
    "too many requests",
    new MarketError({ status: 429, code: "rate_limited", message: "slow", retryAfterMs: 2_000 }),
    "Too many requests",
    "again",
  ],
  [
    "no connection",
    new MarketError({ code: "network", message: "no" }),
    "This site does not answer",
    "again",
  ],
  ["too little money", new Error("insufficient funds for gas"), "Not enough funds", "again"],
])("%s is said in words, with a way on", (_, error, title, way) => {
  const said = explain(error);
  expect(said).toMatchObject({ title, way });
  expect(said.text.length).toBeGreaterThan(0);
});
