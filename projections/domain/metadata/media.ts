import { bidiMarks, type OnLimit } from "./document.ts";
import { isInline, locate } from "./location.ts";

const webLength = 2_048;
/** On-chain images are data URIs. */
const dataLength = 65_536;

const schemes = /^(?:https?|ipfs|ipns|ar):\/\//i;
const mediaData = /^data:(?:image|video|audio|model)\//i;

/** A URI as given; null if longer than the limit. */
export function parseUri(value: unknown, onLimit?: OnLimit): string | null {
  if (typeof value !== "string") return null;
  const length = isInline(value) ? dataLength : webLength;
  if (value.length > length) {
    onLimit?.(`longer than ${length} characters`);
    return null;
  }
  return (
    value
      .trim()
      .toWellFormed()
      .replaceAll(bidiMarks, "")
      .replaceAll(/\p{Cc}+/gu, " ") || null
  );
}

/** URI of an image, video, audio or 3D model; null for all that a page must not open, such as scripts. */
export function parseMedia(value: unknown, onLimit?: OnLimit): string | null {
  const uri = parseUri(value, onLimit);
  if (uri === null || /^data:/i.test(uri)) {
    return uri !== null && mediaData.test(uri) && URL.canParse(uri) ? uri : null;
  }
  const location = locate(uri);
  if (typeof location === "string" || location.kind === "data") return null;
  if (location.kind === "web") return webMedia(uri, location);
  if (schemes.test(uri)) return URL.canParse(uri) ? uri : null;
  return schemed(location);
}

type At<Kind> = Extract<Exclude<ReturnType<typeof locate>, string>, { kind: Kind }>;

/** Content behind a gateway that others cannot reach is the same content behind any. */
function webMedia(uri: string, { url, content }: At<"web">): string | null {
  if (isSafe(url)) return schemes.test(uri) ? uri : url.href;
  return content?.isSure ? schemed(content) : null;
}

function schemed({ kind, path }: { kind: "ipfs" | "arweave"; path: string }): string {
  return kind === "arweave"
    ? `ar://${path}`
    : path.replace(/^(ip[fn]s)\//, (_, folder: string) => `${folder}://`);
}

/** SVG text as a data URI; other media as in `parseMedia`. */
export function parseSvg(value: unknown, onLimit?: OnLimit): string | null {
  if (typeof value !== "string" || !/^\s*<(?:svg|\?xml|!doctype svg)/i.test(value)) {
    return parseMedia(value, onLimit);
  }
  return parseMedia(`data:image/svg+xml;base64,${Buffer.from(value).toString("base64")}`, onLimit);
}

/** URL of a web page on a public host, as `URL` writes it; null for anything else. */
export function parseLink(value: unknown, onLimit?: OnLimit): string | null {
  const uri = parseUri(value, onLimit);
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
