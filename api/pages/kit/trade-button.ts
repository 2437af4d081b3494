import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";

/** What the page's script does when the button is pressed (`assets/trade-flow.js`). */
export type ButtonRequest = {
  readonly verb:
    | "accept"
    | "buy"
    | "buySelected"
    | "cancel"
    | "cancelAll"
    | "cancelSelected"
    | "list"
    | "listSelected"
    | "offer"
    | "revoke"
    | "sweep";
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
  /** Approvals that are taken back: those of these contracts' tokens, and with `offers` that of the currency. */
  readonly contracts?: readonly string[];
  readonly offers?: boolean;
};

/** What of a row is traded when it is picked with others (`assets/trade-select.js`). */
export type PickedRow = {
  readonly name: string;
  readonly askId?: string;
  readonly bidId?: string;
  readonly unitPriceWei?: string;
  readonly units?: number;
  readonly contract?: string;
  readonly tokenId?: string;
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

/** A box that picks a row for a trade with others. Without scripts it is not seen. */
export const pickBox = (pick: PickedRow): Html =>
  html`<label class="pick" hidden><input type="checkbox" data-pick="${JSON.stringify(pick)}"><span class="unseen">Select ${pick.name}</span></label>`;

/** What is done with the picked rows of a page: `text` is the button's. */
export function picksTrade(text: string, request: ButtonRequest, owner?: string): Html {
  const owned = owner !== undefined && html` data-owner="${owner}"`;
  return html`<div class="picks" data-text="${text}" data-trade-picks="${JSON.stringify(request)}"${owned} hidden></div>`;
}

/** Buttons of a page's head. */
export const tradeButtons = (all: readonly (Html | false)[]): Html =>
  html`<div class="trades">${all}</div>`;
