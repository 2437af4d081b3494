import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { collectionLink, tokenLink, transactionLink, walletLink } from "./links.ts";
import { nameOr, shortHex, shortId } from "./text.ts";

/** Links to pages of accounts, collections, tokens and transactions, by their names. */
export function toWallet(chainId: ChainId, address: string | null | undefined): Html {
  if (address === null || address === undefined) return html`<span class="quiet">nobody</span>`;
  return html`<a class="hex" href="${walletLink(chainId, address)}" title="${address}">${shortHex(address)}</a>`;
}

export function toTransaction(chainId: ChainId, hash: string | null): Html {
  if (hash === null) return html`<span class="quiet">signed</span>`;
  return html`<a class="hex" href="${transactionLink(chainId, hash)}" title="${hash}">${shortHex(hash)}</a>`;
}

type Named = {
  readonly address: string;
  readonly slug: string | null;
  readonly name: string | null;
};

export function toCollection(chainId: ChainId, { address, slug, name }: Named): Html {
  return html`<a href="${collectionLink(chainId, slug ?? address)}">${nameOr(name, slug ?? shortHex(address))}</a>`;
}

type TokenRef = {
  readonly contract: string;
  readonly tokenId: string;
  readonly name?: string | null;
};

export function toToken(chainId: ChainId, { contract, tokenId, name }: TokenRef): Html {
  return html`<a href="${tokenLink(chainId, contract, tokenId)}" title="#${tokenId}">${nameOr(name, `#${shortId(tokenId)}`)}</a>`;
}

/** A link to another site, which learns nothing of this page; none where the text is no web address. */
export function toOutside(url: string | null, text: string): Html | false {
  if (url === null || !/^https?:\/\//i.test(url)) return false;
  return html`<a href="${url}" rel="noreferrer noopener nofollow ugc">${text}<span class="unseen"> (another site)</span></a>`;
}
