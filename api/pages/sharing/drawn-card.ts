import { cardSize } from "#api/pictures/address.ts";
import { type Html, html } from "../kit/html.ts";
import { plainText } from "../kit/text.ts";

/** What a card says beside its picture. */
export type CardTexts = {
  readonly name: string;
  /** What it belongs to. */
  readonly about: string;
  /** The first is the largest. */
  readonly figures: readonly string[];
  /** Site and chain. */
  readonly place: string;
};

const { width, height, pictureSide, pictureInset } = cardSize;
const column = { left: pictureInset * 2 + pictureSide, right: width - pictureInset };
const across = column.right - column.left;
const most = { nameLines: 3, figures: 4 };

/** A card as SVG, with room for its picture: somebody's texts of any script and length stay in their lines. */
export function drawCardTexts({ name, about, figures, place }: CardTexts): string {
  const title = linesOf(name, 50, most.nameLines, true);
  const [first, ...others] = figures.slice(0, most.figures);
  const nameTop = 178;
  const figuresTop = nameTop + title.length * 60 + 30;
  const parts = [
    line(about, { top: 108, size: 26, colour: "#5a6372" }),
    ...title.map((one, index) =>
      line(one, { top: nameTop + index * 60, size: 50, colour: "#11151c", isBold: true }),
    ),
    first !== undefined &&
      line(first, { top: figuresTop, size: 40, colour: "#2456d6", isBold: true }),
    ...others.map((one, index) =>
      line(one, { top: figuresTop + 52 + index * 42, size: 30, colour: "#333b48" }),
    ),
    line(place, { top: height - pictureInset - 4, size: 24, colour: "#5a6372" }),
  ];
  const frame = pictureInset - 12;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="#fff"/><rect width="${width}" height="14" fill="#2456d6"/><rect x="${frame}" y="${frame}" width="${pictureSide + 24}" height="${pictureSide + 24}" rx="18" fill="#f1f3f7"/>${parts}</svg>`
    .text;
}

type Line = {
  readonly top: number;
  readonly size: number;
  readonly colour: string;
  readonly isBold?: boolean;
};

const rightToLeft =
  /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** One line in a box of its own, which cuts what is wider all the same. */
function line(text: string, { top, size, colour, isBold = false }: Line): Html {
  const [shown = ""] = linesOf(text, size, 1, isBold);
  const isRight = rightToLeft.test(shown);
  const start = isRight ? html`x="${across}" direction="rtl"` : html`x="0"`;
  return html`<svg x="${column.left}" y="${top - size}" width="${across}" height="${size * 2}"><text ${start} y="${size}" font-family="sans-serif" font-size="${size}"${isBold && html` font-weight="bold"`} fill="${colour}">${shown}</text></svg>`;
}

/** Characters that XML has no form for. */
const unwritable = /[\ufffe\uffff]/g;
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** A text in lines that are about as wide as the column; what does not fit ends in an ellipsis. */
function linesOf(text: string, size: number, count: number, isBold: boolean): string[] {
  const clean = plainText(text).toWellFormed().replaceAll(unwritable, "").replaceAll(/\s+/g, " ");
  const units = across / size / (isBold ? 1.14 : 1);
  const lines: string[] = [];
  let [current, used, fitsTo] = ["", 0, 0];
  for (const { segment } of graphemes.segment(clean)) {
    const wide = unitsOf(segment);
    if (used + wide > units) {
      // At the last gap, where the line has one.
      const cut = fitsTo > 0 ? fitsTo : current.length;
      lines.push(current.slice(0, cut).trimEnd());
      current = current.slice(cut).trimStart();
      used = widthOf(current);
      fitsTo = 0;
      if (lines.length === count) return endAt(lines, units);
    }
    current += segment;
    used += wide;
    if (segment === " ") fitsTo = current.length;
  }
  return [...lines, current];
}

const widthOf = (text: string): number =>
  [...graphemes.segment(text)].reduce((sum, { segment }) => sum + unitsOf(segment), 0);

/** The last of the lines, with the sign that more is left out. */
function endAt(lines: readonly string[], units: number): string[] {
  const kept = [...graphemes.segment(lines.at(-1) ?? "")].map(({ segment }) => segment);
  while (kept.length > 1 && widthOf(kept.join("")) + 1 > units) kept.pop();
  return [...lines.slice(0, -1), `${kept.join("").trimEnd()}…`];
}

const wideLetters =
  /^[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff00-\uff60]/u;

/** About how wide a letter is in a common font, of its size. */
function unitsOf(letter: string): number {
  if (wideLetters.test(letter)) return 1.15;
  if (/^[ilj.,:;'|! ]$/.test(letter)) return 0.34;
  return /^[a-z0-9]$/.test(letter) ? 0.6 : 0.75;
}
