import { chainNames } from "#chains/index.ts";
import type { Context } from "../v1/context.ts";
import { prepareSearch, search } from "../v1/search.ts";
import { type Html, html } from "./kit/html.ts";
import { walletLink } from "./kit/links.ts";
import { picture } from "./kit/media.ts";
import { foreignText, nameOr, shortHex, shortId } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";
import {
  collectionMarks,
  type Found,
  floorAmount,
  hashRows,
  minSearchLength,
  searchText,
} from "./search.ts";

/** Of each kind. */
const mostSuggested = 4;

/** What is below the search box while somebody types: of what the search page shows the first rows, as options of a list. */
export async function suggestions(visit: Visit): Promise<PageContent> {
  const text = searchText(visit.parameter("q"));
  const title = "Suggestions";
  if (text.length < minSearchLength) return { title, body: html`` };
  const query = { q: text, limit: String(mostSuggested) };
  const { data } = await visit.read(search, { query });
  return { title, body: html`${optionsOf(data, visit).map(optionLink)}` };
}

/** A name is resolved once it is whole: each of its beginnings is a name, too. */
export async function prepareSuggestions(
  query: unknown,
  context: Context,
  mayAsk: () => Promise<boolean>,
): Promise<void> {
  const { q } = Object(query) as { q?: unknown };
  if (typeof q === "string" && /\.eth\s*$/i.test(q)) await prepareSearch(query, context, mayAsk);
}

type Option = {
  readonly href: string;
  readonly name: Html;
  /** What it is, where, and what it costs. */
  readonly about: Html;
  readonly image?: Html;
};

function optionsOf(found: Found, { chainId }: Visit): readonly Option[] {
  return [
    ...found.collections.map((row) => ({
      href: row.urls.collection,
      image: picture({ ...row, contract: row.address }, "", "row"),
      name: html`${nameOr(row.name, row.slug)}${collectionMarks(row)}`,
      about: html`Collection on ${chainNames[row.chainId]}${row.floor !== null && html`, floor ${floorAmount(row)}`}`,
    })),
    ...found.tokens.map((row) => ({
      href: row.urls.token,
      image: picture(row, "", "row"),
      name: nameOr(row.name, `#${shortId(row.tokenId)}`),
      about: html`Token of ${nameOr(row.collection.name, shortHex(row.collection.address))} on ${chainNames[row.chainId]}`,
    })),
    ...found.wallets.map(({ address, ensName }) => ({
      href: walletLink(chainId, address),
      name:
        ensName === null
          ? html`<span class="hex">${shortHex(address)}</span>`
          : foreignText(ensName),
      about: html`Wallet${ensName !== null && html` <span class="hex">${shortHex(address)}</span>`}`,
    })),
    ...hashRows(found).map((row) => ({
      href: row.href,
      name: html`<span class="hex">${shortHex(row.hash)}</span>`,
      about: html`${row.kind} on ${chainNames[row.chainId]}`,
    })),
  ];
}

const optionLink = ({ href, name, about, image }: Option, index: number): Html =>
  html`<a role="option" id="suggestion-${index}" aria-selected="false" tabindex="-1" href="${href}">${image}<span><span class="name">${name}</span> <span class="quiet">${about}</span></span></a>`;
