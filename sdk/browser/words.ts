import { MarketError } from "../src/index.ts";
import { type WalletCode, WalletError } from "../src/viem/index.ts";
import { rpcCodeOf } from "./wallets.ts";

/** How a person can go on: the same again, later, a plan made anew, at whatever the price is now, on the right chain, or not at all. */
type WayOn = "again" | "later" | "new_plan" | "new_price" | "switch" | "none";

/** What went wrong, for people. */
type Explained = { readonly title: string; readonly text: string; readonly way: WayOn };

/** Of the wallet itself, by its code (EIP-1193, EIP-1474). */
const rpcCodes: Readonly<Record<number, Explained>> = {
  4001: {
    title: "You said no in the wallet",
    text: "Nothing was signed or sent for it. What was done before stays done.",
    way: "again",
  },
  4100: {
    title: "The wallet does not let this page use the account",
    text: "Connect the account in your wallet, then try again.",
    way: "again",
  },
  4900: { title: "The wallet has no connection", text: "Try again in a moment.", way: "again" },
  4901: {
    title: "The wallet is on another chain",
    text: "Switch it to the chain of this page.",
    way: "switch",
  },
  4902: {
    title: "The wallet does not know this chain",
    text: "It did not add it either. Add the chain in the wallet's settings, then try again.",
    way: "switch",
  },
  [-32_002]: {
    title: "The wallet is waiting for you",
    text: "It shows a request already: open the wallet and answer it, then try again.",
    way: "again",
  },
};

type Words = Omit<Explained, "text"> & { readonly text?: string };

/** Without a text: that of the error. */
const walletCodes: Readonly<Record<WalletCode, Words>> = {
  wrong_chain: { title: "The wallet is on another chain", way: "switch" },
  wrong_account: { title: "The wallet shows another account", way: "again" },
  blocked: { title: "It cannot be done now", way: "new_plan" },
  price_limit: {
    title: "The price has moved",
    text: "It is not the one that this page showed. Nothing was paid.",
    way: "new_price",
  },
  unsafe_answer: { title: "Stopped: the answer is not what was planned", way: "none" },
  stale_plan: { title: "It took too long", way: "new_plan" },
  reverted: { title: "The transaction fails", way: "new_plan" },
  refused: { ...(rpcCodes[4001] as Explained) },
  replaced: { title: "Another transaction took its place", way: "again" },
  not_mined: { title: "The transaction is still on its way", way: "again" },
  not_signed: {
    title: "Waiting for the other owners",
    text: "Not enough owners of the account have agreed yet. Its wallet keeps the request, and this browser the trade: it goes on here once they have.",
    way: "later",
  },
  unanswered: { title: "Your wallet may have it already", way: "new_plan" },
};

const movedPrice: ReadonlySet<string> = new Set(["price_above_max", "price_limit"]);
const noFunds = /insufficient funds|outoffunds|exceeds the balance/i;

export function explain(error: unknown): Explained {
  if (error instanceof WalletError) return ofWallet(error);
  if (error instanceof MarketError) return ofMarket(error);
  const ofCode = rpcCodes[rpcCodeOf(error) ?? 0];
  if (ofCode !== undefined) return ofCode;
  const text = textOf(error);
  if (noFunds.test(text)) return { title: "Not enough funds", text, way: "again" };
  return { title: "It did not work", text, way: "again" };
}

function ofWallet({ code, reason, message }: WalletError): Explained {
  const {
    title,
    way,
    text = message,
  } = walletCodes[movedPrice.has(reason ?? "") ? "price_limit" : code];
  if (reason === "insufficient_balance")
    return { title: "Not enough funds", text: message, way: "again" };
  return { title, text, way };
}

function ofMarket({ status, code, message, retryAfterMs }: MarketError): Explained {
  if (movedPrice.has(code)) return { ...walletCodes.price_limit, text: message };
  if (status === 429) {
    const seconds = Math.ceil((retryAfterMs ?? 60_000) / 1_000);
    const text = `This address has asked for much. Try again in ${seconds} s.`;
    return { title: "Too many requests", text, way: "again" };
  }
  const isAnswered = status >= 400 && status < 500;
  if (isAnswered) return { title: "It cannot be done now", text: message, way: "new_plan" };
  return { title: "This site does not answer", text: message, way: "again" };
}

const mostText = 300;

/** viem's errors have the whole request in their message, and the reason alone beside it. */
function textOf(error: unknown): string {
  const { shortMessage, details } = (error ?? {}) as { shortMessage?: string; details?: string };
  const message = error instanceof Error ? error.message : String(error);
  const text = [shortMessage ?? message, details].filter((one) => one !== undefined).join(" ");
  return text.slice(0, mostText);
}
