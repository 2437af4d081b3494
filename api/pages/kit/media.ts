import { type Pictured, picturePath, pictureWidths } from "#api/pictures/address.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { toOutside, toToken } from "./links.ts";
import { plainText } from "./text.ts";

/** Where a picture stands: in a row, at the head of a subject, on a card, or on the page of its token. */
type PicturePlace = "row" | "head" | "card" | "page";

const { row, card, page } = pictureWidths;

/** By place: CSS pixels across, and the widths that a browser chooses from. */
const places = {
  row: { size: 36, widths: [row] },
  head: { size: 96, widths: [row, card] },
  card: { size: 240, widths: [card] },
  page: { size: 480, widths: [card, page] },
} as const;

/** Somebody's picture, as this site serves it: its host learns of no visitor, and where there is none one is drawn. */
export function picture(of: Pictured, alt: string, place: PicturePlace): Html {
  const { size, widths } = places[place];
  const paths = widths.map((width) => `${picturePath(of, width)} ${width}w`);
  const isMain = place === "page" || place === "head";
  const choice =
    paths.length > 1 &&
    html` srcset="${paths.join(", ")}" sizes="${place === "page" ? "(max-width: 60rem) 100vw, 26rem" : `${size}px`}"`;
  return html`<span class="media"><img src="${picturePath(of, widths[0])}"${choice} alt="${plainText(alt)}" width="${size}" height="${size}"${!isMain && html` loading="lazy"`} decoding="async" referrerpolicy="no-referrer"></span>`;
}

/** What is shown beside its picture in a row. */
export const withPicture = (of: Pictured, content: Html): Html =>
  html`<span class="named">${picture(of, "", "row")}<span>${content}</span></span>`;

type TokenOfRow = {
  readonly chainId: ChainId;
  readonly contract: string;
  readonly tokenId: string;
};

/** A token of a row, with its picture. `note`: after its name. */
export const picturedToken = (
  { chainId, contract, tokenId }: TokenOfRow,
  note?: Html | false,
): Html =>
  withPicture(
    { chainId, contract, tokenId },
    html`${toToken(chainId, { contract, tokenId })}${note}`,
  );

type Animation = {
  readonly animationUrl: string | null;
  readonly contentType: string | null;
};

/** Of the web, or of this site. */
const isLoadable = (url: string | null): url is string =>
  url !== null && /^(https?:\/\/|\/(?!\/))/i.test(url);

const endings = {
  video: /\.(mp4|webm|mov|m4v|ogv)(\?|#|$)/i,
  audio: /\.(mp3|wav|ogg|oga|flac|m4a|aac)(\?|#|$)/i,
} as const;

const program = "Open its 3D model or program";

/** A token's picture, and what moves or sounds. Of that nothing is loaded before somebody asks for it. */
export function tokenMedia(
  of: Pictured,
  { animationUrl, contentType }: Animation,
  alt: string,
): Html {
  const label = plainText(alt);
  const isOf = (kind: keyof typeof endings, url: string) =>
    endings[kind].test(url) || contentType?.startsWith(`${kind}/`) === true;
  if (!isLoadable(animationUrl)) return html`${picture(of, alt, "page")}${drawnNote(of)}`;
  if (isOf("video", animationUrl))
    return html`<span class="media"><video src="${animationUrl}" controls loop muted playsinline preload="none" aria-label="${label}" poster="${picturePath(of, page)}"></video></span>`;
  if (isOf("audio", animationUrl))
    return html`${picture(of, alt, "page")}<audio src="${animationUrl}" controls preload="none" aria-label="${label}"></audio>`;
  return html`${picture(of, alt, "page")}<p class="about">${toOutside(animationUrl, program) || html`<a href="${animationUrl}">${program}</a>`}</p>`;
}

const drawnNote = ({ imageUrl }: Pictured): Html | false =>
  typeof imageUrl !== "string" &&
  html`<p class="about">It has no image of its own: this one is drawn from its id.</p>`;
