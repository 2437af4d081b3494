import { partnerNames, partners } from "#projections/domain/partners.ts";
import { type Html, html } from "./html.ts";

const maxLength = 120;

/** Controls, and what turns the direction of the text around it: names come from anybody. */
const unsafe = /\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What is not shown, by which names differ that look the same; joiners and variants of emoji stay. */
const unseen =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|(?<!\p{Extended_Pictographic})\ufe0f|(?![\u200d\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** Marks upon one letter beyond these pile up over the lines around it. */
const piledMarks = /(\p{M}{3})\p{M}+/gu;

/** Letters, digits and signs of ASCII, which most names are made of. */
const ascii = /^[ -~]*$/;

/** A name as one line of limited length. */
export function plainText(text: string, length = maxLength): string {
  if (text.length <= length && ascii.test(text)) return text.trim();
  const clean = text
    .slice(0, 4 * length)
    .replaceAll(unsafe, " ")
    .replaceAll(unseen, "")
    .replaceAll(piledMarks, "$1")
    .trim();
  const characters = [...clean];
  return characters.length <= length ? clean : `${characters.slice(0, length - 1).join("")}…`;
}

/** Somebody's text, isolated from the direction of what stands around it. */
export function foreignText(text: string, length = maxLength): Html {
  return html`<bdi>${plainText(text, length)}</bdi>`;
}

/** A name, or what stands for it. */
export function nameOr(name: string | null | undefined, otherwise: string): Html {
  const shown = plainText(name ?? "");
  return shown === "" ? html`${otherwise}` : html`<bdi>${shown}</bdi>`;
}

export const shortHex = (hex: string): string =>
  hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`;

/** Long token ids are shortened in the middle. */
export const shortId = (tokenId: string): string =>
  tokenId.length <= 12 ? tokenId : `${tokenId.slice(0, 5)}…${tokenId.slice(-5)}`;

/** Names of marketplaces for visitors, by those on the wire. */
export const marketplaceNames: ReadonlyMap<string, string> = new Map([
  ["native", "this market"],
  ...partnerNames.map((name) => [name, partners[name].displayName] as const),
]);

/** Marketplaces that are only known by their sales keep their names on the wire. */
export const marketplaceName = (onTheWire: string): string =>
  marketplaceNames.get(onTheWire) ?? onTheWire;
