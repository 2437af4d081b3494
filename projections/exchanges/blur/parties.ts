import type { Address } from "viem";
import { blur } from "#abis/blur.ts";
import type { EmittedEvent } from "../model/translate-events.ts";

/**
 * A loan is closed by a sale of its collateral, or opened by a purchase on credit: the lending protocol sells and buys
 * for the borrower, who sent the transaction.
 */
export function personOf(party: Address, { sender }: EmittedEvent): Address {
  return party === blur.blend && sender !== null ? sender : party;
}

/** The pool's coin is ether. */
export function currencyOf(paymentToken: Address): Address {
  return paymentToken === blur.pool ? "0x0000000000000000000000000000000000000000" : paymentToken;
}
