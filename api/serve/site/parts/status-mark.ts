import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { type Html, html } from "#api/serve/html/html.ts";

const tones: Partial<Record<OrderStatus, string>> = {
  active: "good",
  inactive: "wait",
  cancelled: "bad",
};

/** Why an order cannot be filled now, in words. */
const reasons: Readonly<Record<string, string>> = {
  not_started: "it has not started yet",
  pp_retired: "its exchange contract is retired",
  not_owner: "the maker does not hold the token",
  not_approved: "the maker has not approved the conduit",
  conduit_channel_closed: "the conduit is closed to the exchange",
  contract_signature_invalid: "the maker's contract does not accept the signature",
  transfer_restricted:
    "the collection, or a contract that would be paid or get the token, refuses the transfer",
  partner_invalidated: "its marketplace calls it invalid",
  superseded: "the maker also lists the token for less",
  insufficient_balance: "the bidder's balance does not cover it",
  insufficient_allowance: "the bidder's allowance does not cover it",
};

const reasonText = (reason: string): string => reasons[reason] ?? reason.replaceAll("_", " ");

/** The state of an order, with the reason why it is inactive. */
export function statusMark(status: OrderStatus, reason: string | null): Html {
  return html`<span class="mark ${tones[status] ?? ""}">${status}</span>${reason !== null && html` <span class="quiet">${reasonText(reason)}</span>`}`;
}
