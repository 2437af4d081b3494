import { type Address, type Hex, zeroAddress } from "viem";
import { wrappedNative } from "#chains/index.ts";
import type { ExchangeEvent } from "#projections/exchanges/model/exchange.ts";
import { addressOf } from "#test/support/database/given.ts";
import type { Random } from "../random.ts";

/** One token sold for one price, as an exchange's events are to tell it. */
export type Trade = {
  contract: Address;
  tokenId: bigint;
  seller: Address;
  buyer: Address;
  wei: string;
  orderHash: Hex;
};

/** What a log says, without what the recorder adds from its transaction. */
export type Emitted = Pick<ExchangeEvent, "source" | "event" | "args" | "bid" | "factory" | "coin">;

/** A payment in coins that the transaction's transfers tell. */
export type Payment = { contract: Address; from: Address; to: Address; amount: string };

/** The events of a sale, in log order. */
export type Sale = {
  events: readonly Emitted[];
  payments?: readonly Payment[];
  /** Who has the token before, where that is not the seller. */
  holder?: Address;
  /** The token moves after the events. */
  isDeliveredLast?: true;
};

export type Emitter = (trade: Trade, random: Random) => Sale;

export const pool = addressOf(70);
/** Whom fees and royalties go to. */
export const collector = addressOf(98);

/** Ether, wrapped or not, or another coin. */
export const someCurrency = (random: Random): Address =>
  random.pick([zeroAddress, wrappedNative[1], addressOf(80)]);

/** One payment, and another on top of it now and then. */
export function someFees(random: Random): string[] {
  return Array.from({ length: random.int(0, 2) }, () => `${random.int(0, 50)}`);
}
