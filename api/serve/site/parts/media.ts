import { type Html, html } from "#api/serve/html/html.ts";
import { plainText } from "./text.ts";

type Media = {
  readonly imageUrl: string | null;
  readonly animationUrl?: string | null;
  readonly contentType?: string | null;
};

/** Of the web, or of this site. */
const isLoadable = (url: string | null): url is string =>
  url !== null && /^(https?:\/\/|\/(?!\/))/i.test(url);

/** Somebody's image: never part of the page itself, and its host learns nothing of the page. `placeholder` stands where it cannot be shown. */
export function picture(url: string | null, alt: string, size: number, placeholder = ""): Html {
  return html`<span class="media">${placeholder !== "" && html`<span class="placeholder" aria-hidden="true">${placeholder}</span>`}${
    isLoadable(url) &&
    html`<img src="${url}" alt="${plainText(alt)}" width="${size}" height="${size}" loading="lazy" decoding="async" referrerpolicy="no-referrer">`
  }</span>`;
}

/** A token's video where it has one, else its image. */
export function tokenMedia({ imageUrl, animationUrl, contentType }: Media, alt: string): Html {
  const url = animationUrl ?? null;
  const isVideo =
    isLoadable(url) &&
    (/\.(mp4|webm|mov|m4v)(\?|$)/i.test(url) || contentType?.startsWith("video/") === true);
  if (!isVideo && !isLoadable(imageUrl))
    return html`<span class="media"><span class="placeholder">No image</span></span>`;
  if (!isVideo) return picture(imageUrl, alt, 480);
  return html`<span class="media"><video src="${url}" controls loop muted playsinline preload="none" aria-label="${plainText(alt)}"${imageUrl !== null && html` poster="${imageUrl}"`}></video></span>`;
}
