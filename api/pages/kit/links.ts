import {
  presentBidUrl,
  presentCollectionUrls,
  presentListingUrl,
  presentMakerUrl,
  presentSaleUrl,
  presentTokenUrls,
  type Site,
} from "#api/v1/urls.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { nameOr, shortHex, shortId } from "./text.ts";

/** Paths of pages: those of `urls` in answers, without the site's address. */
const here = (chainId: number): Site => ({ siteUrl: "", chainId });

export const collectionLink = (chainId: number, key: string): string =>
  presentCollectionUrls(here(chainId), key).collection;

export const tokenLink = (chainId: number, contract: string, tokenId: string): string =>
  presentTokenUrls(here(chainId), contract, contract, BigInt(tokenId)).token;

export const saleLink = (chainId: number, saleId: string): string =>
  presentSaleUrl(here(chainId), saleId);
export const listingLink = (chainId: number, askId: string): string =>
  presentListingUrl(here(chainId), askId);
export const bidLink = (chainId: number, bidId: string): string =>
  presentBidUrl(here(chainId), bidId);
export const walletLink = (chainId: number, address: string): string =>
  presentMakerUrl(here(chainId), address);

/** Pages that no answer links to. */
export const transactionLink = (chainId: number, hash: string): string =>
  pageLink(`/transactions/${hash}`, { chainId });
export const marketLink = (chainId: number): string => pageLink("/", { chainId });
export const activityLink = (chainId: number): string => pageLink("/activity", { chainId });

type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A path with its query; parameters without a value are left out, those of several come again. */
export function pageLink(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of typeof value === "object" ? value : [value])
      if (one !== undefined && one !== "") query.append(name, String(one));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Paths that differ in the value of one further parameter: menus have hundreds. `path` has a query. */
export function linksByValue(path: string, name: string): (value: string) => string {
  const start = `${path}&${encode(name)}=`;
  return (value) => start + encode(value);
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

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

/** What a chain knows by its number. */
type OnChain =
  | { readonly address: string }
  | { readonly transaction: string }
  | { readonly contract: string; readonly tokenId: string };

/** Beside an address, a token or a transaction: a button that copies it whole, and its page at the chain's explorer. */
export function chainTools(chainId: ChainId, subject: OnChain): Html {
  const { text, path } = atExplorer(subject);
  const link = toOutside(`${chainById(chainId).explorer}${path}`, "Explorer");
  return html`<span class="tools">${copyButton(text)}${link}</span>`;
}

/** Seen with scripts only. */
export const copyButton = (text: string): Html =>
  html`<button type="button" class="plain" data-copy="${text}" hidden>Copy</button>`;

function atExplorer(subject: OnChain): { readonly text: string; readonly path: string } {
  if ("address" in subject) return { text: subject.address, path: `/address/${subject.address}` };
  if ("transaction" in subject)
    return { text: subject.transaction, path: `/tx/${subject.transaction}` };
  const { contract, tokenId } = subject;
  return { text: `${contract}/${tokenId}`, path: `/token/${contract}?a=${tokenId}` };
}
