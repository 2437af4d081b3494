import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";

/** What the page's script does when the button is pressed (`assets/trade-flow.js`). */
export type ButtonRequest = {
  readonly verb: "accept" | "buy" | "cancel" | "cancelAll" | "list" | "offer" | "sweep";
  readonly chainId: ChainId;
  /** Head of the sheet. */
  readonly title: string;
  /** Symbol of the currency in which a price is asked for. */
  readonly coin?: string;
  /** Units that can be chosen from. */
  readonly units?: number;
  /** Prices of the market, as decimal numbers, that a person may take over. */
  readonly hints?: readonly (readonly [label: string, price: string])[];
  readonly askId?: string;
  /** What the page shows: more is not paid without asking. */
  readonly unitPriceWei?: string;
  readonly contract?: string;
  readonly tokenId?: string;
  readonly bidId?: string;
  /** What the page shows of an offer: less is not taken without asking. */
  readonly netWei?: string;
  /** Of an offer on several: which token is sold is asked for. */
  readonly needsToken?: boolean;
  readonly askIds?: readonly string[];
  readonly bidIds?: readonly string[];
  readonly collection?: string;
  readonly traits?: readonly { readonly type: string; readonly value: string }[];
};

type Options = {
  /** Who alone can do it: others who have shown their account do not see the button. */
  readonly owner?: string | null;
  readonly isPrimary?: boolean;
};

/** A button that trades by the visitor's wallet. Without scripts it is not seen. */
export function tradeButton(
  text: string,
  request: ButtonRequest,
  { owner, isPrimary = false }: Options = {},
): Html {
  const owned = owner === undefined || owner === null ? false : html` data-owner="${owner}"`;
  return html`<button type="button"${isPrimary && html` class="primary"`} data-trade="${JSON.stringify(request)}"${owned} hidden>${text}</button>`;
}

/** Buttons of a page's head. */
export const tradeButtons = (all: readonly (Html | false)[]): Html =>
  html`<div class="trades">${all}</div>`;
