import sharp from "sharp";
import { cardSize, pictureWidths } from "./address.ts";
import type { DecodeAnswer, DecodeRequest } from "./decoder.ts";

// Decodes pictures of strangers, one at a time, in a process that holds nothing else: what they break is this process.

/** Pixels of a picture, all frames of which but the first are left out. */
const maxPixels = 40_000_000;
const maxMemoryBytes = 450_000_000;
const maxSeconds = 8;
/** Text in an SVG is drawn by the visitor's browser, which has fonts; larger ones are drawn here. */
const maxSvgBytes = 32_768;

sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Svg"].map(
    (format) => `VipsForeignLoad${format}Buffer`,
  ),
});

setInterval(() => {
  if (process.memoryUsage.rss() > maxMemoryBytes) process.exit(2);
}, 20);

const input = { pages: 1, limitInputPixels: maxPixels, failOn: "error" } as const;

process.on("message", (request: DecodeRequest) => {
  const bytes = Buffer.from(request.bytes);
  const made = "card" in request ? drawCard(bytes, request.card) : decode(bytes, request);
  made.then(answer, (error: unknown) =>
    answer({ fault: error instanceof Error ? error.message.slice(0, 200) : "unknown" }),
  );
});
process.on("disconnect", () => process.exit(0));

function answer(decoded: DecodeAnswer): void {
  process.send?.(decoded);
}

type Resizing = Exclude<DecodeRequest, { card: string }>;

async function decode(bytes: Buffer, { width, format }: Resizing): Promise<DecodeAnswer> {
  const about = await sharp(bytes, input).metadata();
  const isSvg = about.format === "svg";
  // A vector picture is drawn as large as it is shown, a small one of pixels keeps its edges.
  const density = isSvg ? densityFor(Math.max(about.width, about.height)) : undefined;
  const isSmall = !isSvg && about.width <= pictureWidths.row * 2;
  const drawn = sharp(bytes, { ...input, ...(density !== undefined && { density }) })
    .autoOrient()
    .timeout({ seconds: maxSeconds });
  const fit = { fit: "inside", withoutEnlargement: !isSmall } as const;
  const kernel = isSmall ? { kernel: "nearest" as const } : {};
  const whole = await drawn
    .resize({ width: pictureWidths.page, height: pictureWidths.page, ...fit, ...kernel })
    .webp({ quality: 84, effort: 2, smartSubsample: true })
    .toBuffer();
  if (isSvg && bytes.byteLength <= maxSvgBytes && /<(text|foreignObject)[\s>]/.test(String(bytes)))
    return { type: "image/svg+xml", bytes };
  const shown = sharp(whole, input).resize({
    ...{ width, height: width, fit: "inside", withoutEnlargement: true },
  });
  const made =
    format === "avif"
      ? await shown.avif({ quality: 52, effort: 2 }).toBuffer()
      : await shown.webp({ quality: 72, effort: 3 }).toBuffer();
  return { type: `image/${format}`, bytes: made, whole };
}

const densityFor = (side: number): number =>
  Math.min(2_400, Math.max(1, (72 * pictureWidths.page) / Math.max(1, side)));

/** The picture stands in the square that the card leaves for it. */
async function drawCard(bytes: Buffer, card: string): Promise<DecodeAnswer> {
  const { width, height, pictureSide: side, pictureInset: inset } = cardSize;
  const { format, width: across, height: down } = await sharp(bytes, input).metadata();
  const density = format === "svg" ? { density: densityFor(Math.max(across, down)) } : {};
  const fit = { fit: "contain", background: { r: 0, g: 0, b: 0, alpha: 0 } } as const;
  const shown = await sharp(bytes, { ...input, ...density })
    .timeout({ seconds: maxSeconds })
    .resize({ width: side, height: side, ...fit })
    .png()
    .toBuffer();
  fonts ??= hasFonts();
  const svg = (await fonts) ? card : card.replaceAll(/<text.*?<\/text>/gs, "");
  const made = await sharp(Buffer.from(svg), input)
    .timeout({ seconds: maxSeconds })
    .resize({ width, height, fit: "fill" })
    .composite([{ input: shown, left: inset, top: inset }])
    .png()
    .toBuffer();
  return { type: "image/png", bytes: made };
}

let fonts: Promise<boolean> | undefined;

/** Without any, each letter is the same box. */
async function hasFonts(): Promise<boolean> {
  const [narrow, wide] = await Promise.all(["i", "W"].map(drawLetter));
  return narrow !== undefined && wide !== undefined && !narrow.equals(wide);
}

const drawLetter = (letter: string): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><text x="4" y="24" font-size="20">${letter}</text></svg>`,
    ),
  )
    .raw()
    .toBuffer();
