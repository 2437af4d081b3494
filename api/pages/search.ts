import type { z } from "zod";
import { chainNames } from "#chains/index.ts";
import { search } from "../v1/search.ts";
import type { SearchResult } from "../v1/search-result.ts";
import { type Html, html } from "./kit/html.ts";
import { toWallet, transactionLink, walletLink } from "./kit/links.ts";
import { withPicture } from "./kit/media.ts";
import { amount, coinSymbol, formatCount, moment } from "./kit/number.ts";
import { statusMark } from "./kit/orders-table.ts";
import { panel, table } from "./kit/panel.ts";
import { foreignText, nameOr, plainText, shortHex, shortId } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";

/** Results of each kind that are shown. */
const maxOfKind = 10;

export type Found = z.output<typeof SearchResult>;

/** Shorter texts are not searched for. */
export const minSearchLength = 2;

/** What a text may mean, on all chains. */
export async function searchPage(visit: Visit): Promise<PageContent> {
  const { parameter, read } = visit;
  const asked = parameter("q");
  const text = searchText(asked);
  const heading = html`<h1>Search</h1>`;
  if (text.length < minSearchLength) {
    const about =
      "Type at least two characters: a name, an address or its beginning, a token id after its collection, an ENS name, a hash of a transaction or an order, a link to a marketplace.";
    return {
      title: "Search",
      body: html`${heading}<p>${about}</p>`,
      search: asked,
      isUnlisted: true,
    };
  }
  const { data } = await read(search, { query: { q: text, limit: String(maxOfKind) } });
  const found = Object.values(data).reduce((sum, rows) => sum + rows.length, 0);
  const isCut = Object.values(data).some((rows) => rows.length >= maxOfKind);
  const leadsTo = meantBy(text, data, visit);
  const body = html`${heading}
<p class="about">${formatCount(found)} ${found === 1 ? "match" : "matches"} for “${foreignText(text, 80)}”${isCut && ` shown; at most ${maxOfKind} of each kind`}.</p>
${found === 0 && html`<p>Collections are found by the beginnings of their words, tokens by “collection id”, accounts and transactions by their whole address or hash.</p>`}
${resultsOf(data, visit)}`;
  return {
    title: `Search for ${plainText(text, 40)}`,
    body,
    search: asked,
    isUnlisted: true,
    leadsTo,
  };
}

/** Of a link to a marketplace or an explorer what it names; other texts as they are. */
export function searchText(typed: string): string {
  const asked = typed.trim();
  if (!/^https?:\/\//i.test(asked)) return asked;
  const token = /(0x[0-9a-f]{40})[/:](\d+)/i.exec(asked);
  if (token !== null) return `${token[1]}/${token[2]}`;
  const hex = /0x[0-9a-f]{64}\b/i.exec(asked) ?? /0x[0-9a-f]{40}\b/i.exec(asked);
  return hex?.[0] ?? /\/collections?\/(?:[\w-]+\/)?([\w-]+)/i.exec(asked)?.[1] ?? asked;
}

/** The page of what a whole address, hash or name means, where that is one thing; undefined: the visitor chooses. */
function meantBy(text: string, found: Found, { chainId }: Visit): string | undefined {
  const { collections, tokens, wallets } = found;
  const only = <Row>(rows: readonly Row[]) => (rows.length === 1 ? rows[0] : undefined);
  if (/0x[0-9a-f]{64}$/i.test(text)) return only(hashRows(found))?.href;
  if (/^0x[0-9a-f]{40}\/\d+$/i.test(text)) return only(tokens)?.urls.token;
  if (/^0x[0-9a-f]{40}$/i.test(text) && collections.length > 0)
    return only(collections)?.urls.collection;
  if (/^0x[0-9a-f]{40}$/i.test(text) || /\.eth$/i.test(text)) {
    const wallet = only(wallets);
    return wallet && walletLink(chainId, wallet.address);
  }
  const isNamed = (one: string | null) => one?.toLowerCase() === text.toLowerCase();
  return only(collections.filter(({ name, slug }) => isNamed(name) || isNamed(slug)))?.urls
    .collection;
}

function resultsOf(found: Found, visit: Visit): Html {
  const { collections, tokens, wallets } = found;
  return html`${collections.length > 0 && panel({ id: "collections", title: "Collections", body: collectionsTable(collections) })}
${tokens.length > 0 && panel({ id: "tokens", title: "Tokens", body: tokensTable(tokens) })}
${wallets.length > 0 && panel({ id: "wallets", title: "Wallets", body: walletsTable(wallets, visit) })}
${chainRows(found, visit)}`;
}

function collectionsTable(rows: Found["collections"]): Html {
  return table(
    rows,
    [
      {
        head: "Collection",
        isHead: true,
        cell: (row) =>
          withPicture(
            { chainId: row.chainId, contract: row.address, imageUrl: row.imageUrl },
            html`<a href="${row.urls.collection}">${nameOr(row.name, row.slug)}</a> <span class="hex quiet">${shortHex(row.address)}</span>${collectionMarks(row)}`,
          ),
      },
      { head: "Chain", cell: ({ chainId }) => chainNames[chainId], isPlain: true },
      { head: "Floor", cell: floorAmount, isNumber: true },
      { head: "Sales", cell: ({ sales }) => formatCount(sales), isNumber: true },
      {
        head: "Holders",
        cell: ({ holders }) => formatCount(holders),
        isNumber: true,
        isMinor: true,
      },
    ],
    { caption: "Collections" },
  );
}

/** Tells a collection from others of its name. */
export const collectionMarks = ({ verified, sameNameAs }: FoundCollection): Html =>
  html`${verified && html` <span class="mark good">verified</span>`}${sameNameAs !== null && html` <span class="mark bad">not the verified collection of this name</span>`}`;

type FoundCollection = Found["collections"][number];

export const floorAmount = ({ chainId, floor }: FoundCollection): Html =>
  amount({
    wei: floor?.priceWei,
    symbol: floor?.currency ?? coinSymbol(chainId),
    usd: floor?.usd,
  });

function tokensTable(rows: Found["tokens"]): Html {
  return table(
    rows,
    [
      {
        head: "Token",
        isHead: true,
        cell: ({ chainId, contract, urls, name, tokenId, imageUrl }) =>
          withPicture(
            { chainId, contract, tokenId, imageUrl },
            html`<a href="${urls.token}">${nameOr(name, `#${shortId(tokenId)}`)}</a>`,
          ),
      },
      {
        head: "Collection",
        isPlain: true,
        cell: ({ urls, collection }) =>
          html`<a href="${urls.collection}">${nameOr(collection.name, shortHex(collection.address))}</a>${collection.verified && html` <span class="mark good">verified</span>`}`,
      },
      { head: "Chain", cell: ({ chainId }) => chainNames[chainId], isMinor: true },
    ],
    { caption: "Tokens" },
  );
}

function walletsTable(rows: Found["wallets"], { chains }: Visit): Html {
  return table(
    rows,
    [
      {
        head: "Wallet",
        isHead: true,
        cell: ({ address, ensName }) =>
          html`<span class="hex">${address}</span>${ensName !== null && html` ${foreignText(ensName)}`}`,
      },
      {
        head: "On",
        cell: ({ address }) =>
          html`${chains.map((one) => html`<a href="${walletLink(one, address)}">${chainNames[one]}</a> `)}`,
      },
    ],
    { caption: "Wallets" },
  );
}

/** What a hash names. */
export function hashRows({ transactions, orders, sales }: Found) {
  return [
    ...transactions.map(({ chainId, txHash, timestamp, sales: count }) => ({
      chainId,
      kind: "Transaction",
      href: transactionLink(chainId, txHash),
      hash: txHash,
      about: (now: Date) =>
        html`${moment(timestamp, now)}, ${formatCount(count)} ${count === 1 ? "sale" : "sales"}`,
    })),
    ...sales.map(({ chainId, saleId, timestamp, urls }) => ({
      chainId,
      kind: "Sale",
      href: urls.sale,
      hash: saleId,
      about: (now: Date) => moment(timestamp, now),
    })),
    ...orders.map(({ chainId, side, id, maker, status, urls }) => ({
      chainId,
      kind: side === "bid" ? "Offer" : "Listing",
      hash: id,
      href: urls.listing ?? urls.bid ?? urls.maker,
      about: () => html`${statusMark(status, null)} by ${toWallet(chainId, maker)}`,
    })),
  ];
}

function chainRows(found: Found, { now }: Visit): Html {
  const rows = hashRows(found);
  if (rows.length === 0) return html``;
  return panel({
    id: "hashes",
    title: "By hash",
    body: table(
      rows,
      [
        { head: "What", cell: ({ kind }) => kind, isHead: true },
        {
          head: "Hash",
          isPlain: true,
          line: "end",
          cell: ({ href, hash }) => html`<a class="hex" href="${href}">${shortHex(hash)}</a>`,
        },
        { head: "Chain", cell: ({ chainId }) => chainNames[chainId], isPlain: true },
        { head: "State", cell: ({ about }) => about(now), isPlain: true },
      ],
      { caption: "Transactions, sales and orders" },
    ),
  });
}
