import { bidiMarks } from "./text.ts";

const webLength = 2_048;
/** On-chain images are data URIs. */
const dataLength = 65_536;

const mediaUri = /^(?:(?:https?|ipfs|ipns|ar):\/\/|data:(?:image|video|audio|model)\/)/i;
const bareIpfsPath = /^(?:\/?ipfs\/)?(?=Qm[1-9A-HJ-NP-Za-km-z]{44})|^\/?ipfs\//;

/** A URI as given; null if longer than the limit. */
export function parseUri(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const isData = /^\s*(?:data:|\{)/i.test(value);
  if (value.length > (isData ? dataLength : webLength)) return null;
  return (
    value
      .trim()
      .toWellFormed()
      .replaceAll(bidiMarks, "")
      .replaceAll(/\p{Cc}+/gu, " ") || null
  );
}

/** URI of an image, video, audio or 3D model; null for all that a page must not open, such as scripts. */
export function parseMedia(value: unknown): string | null {
  const uri = parseUri(value)?.replace(bareIpfsPath, "ipfs://") ?? null;
  if (uri === null || !mediaUri.test(uri) || !URL.canParse(uri)) return null;
  const url = new URL(uri);
  return isWeb(url) && !isSafe(url) ? null : uri;
}

/** SVG text as a data URI; other media as in `parseMedia`. */
export function parseSvg(value: unknown): string | null {
  if (typeof value !== "string" || !/^\s*<(?:svg|\?xml)/i.test(value)) return parseMedia(value);
  return parseMedia(`data:image/svg+xml;base64,${Buffer.from(value).toString("base64")}`);
}

/** URL of a web page on a public host, as `URL` writes it; null for anything else. */
export function parseLink(value: unknown): string | null {
  const uri = parseUri(value);
  if (uri === null || !URL.canParse(uri)) return null;
  const url = new URL(uri);
  return isWeb(url) && isSafe(url) ? url.href : null;
}

const isWeb = ({ protocol }: URL) => protocol === "https:" || protocol === "http:";

const privateNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|arpa)$/;

/**
 * Whether a visitor's browser may open a stranger's URL: no credentials (`https://bank@evil`), and the host is a public
 * name. Addresses are refused: `URL` has normalised every notation of one.
 */
function isSafe({ username, password, hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, "");
  const isAddress = host.startsWith("[") || /(^|\.)\d+$/.test(host);
  const isName = host.includes(".") && !isAddress && !privateNames.test(host);
  return isName && username === "" && password === "";
}

const typesByExtension: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  svg: "image/svg+xml",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  glb: "model/gltf-binary",
  gltf: "model/gltf+json",
};

/** Media type that follows from a URI itself; null if none does. */
export function mediaTypeOf(uri: string | null): string | null {
  if (uri === null) return null;
  const [, mediaType] = /^data:([\w.+-]+\/[\w.+-]+)/i.exec(uri) ?? [];
  if (mediaType !== undefined) return mediaType.toLowerCase();
  const [, extension = ""] = /\.([a-z0-9]{2,5})(?:[?#].*)?$/i.exec(uri) ?? [];
  const name = extension.toLowerCase();
  return Object.hasOwn(typesByExtension, name) ? (typesByExtension[name] ?? null) : null;
}
