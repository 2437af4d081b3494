import { type Html, html } from "#api/serve/html/html.ts";
import type { TraitType } from "#api/serve/views/trait.ts";
import { amount } from "../parts/amount.ts";
import { coinOf } from "../parts/chain.ts";
import { collectionLink } from "../parts/links.ts";
import { formatCount, formatShare, none } from "../parts/number.ts";
import { panel } from "../parts/panel.ts";
import { table } from "../parts/table.ts";
import { foreignText } from "../parts/text.ts";
import type { TokenRow } from "./row.ts";

/** Attributes that are shown: anybody may mint a token with thousands. */
const maxAttributes = 60;

/** Attributes with the share of tokens that have them, and the floor of those. */
export function attributesPanel(row: TokenRow, types: readonly TraitType[]): Html {
  const { chainId, collection, attributes, rarity } = row;
  if (attributes === null || attributes.length === 0) {
    const text = attributes === null ? "The metadata is not fetched yet." : "It has no attributes.";
    return panel({
      id: "attributes",
      title: "Attributes",
      body: html`<p class="empty">${text}</p>`,
    });
  }
  const values = new Map(
    types.flatMap(({ type, values }) =>
      values.map((one) => [`${type.trim().toLowerCase()}\n${one.value}`, one] as const),
    ),
  );
  const of = rarity?.of ?? 0;
  const link = collectionLink(chainId, collection.slug ?? collection.address);
  const shown = attributes.slice(0, maxAttributes).map((one) => ({
    ...one,
    known: values.get(`${one.trait_type.trim().toLowerCase()}\n${one.value}`),
  }));
  const rest = attributes.length - shown.length;
  return panel({
    id: "attributes",
    title: "Attributes",
    body: html`${table(
      shown,
      [
        { head: "Type", cell: ({ trait_type }) => foreignText(trait_type, 60), isHead: true },
        {
          head: "Value",
          cell: ({ trait_type, value }) =>
            html`<a href="${link}&${new URLSearchParams({ [`traits[${trait_type}]`]: String(value) }).toString()}">${foreignText(String(value), 60)}</a>`,
        },
        {
          head: "Share",
          isNumber: true,
          cell: ({ known }) =>
            known === undefined || of === 0
              ? none
              : html`<span title="${formatCount(known.count)} tokens">${formatShare(Math.min(1, known.count / of))}</span>`,
        },
        {
          head: "Floor",
          isNumber: true,
          cell: ({ known }) =>
            amount({ wei: known?.floorWei, symbol: coinOf(chainId), usd: known?.usd }),
        },
      ],
      { caption: "Attributes" },
    )}${rest > 0 && html`<p class="about">And ${formatCount(rest)} more in its metadata.</p>`}`,
  });
}
