const webLength = 2_048;
/** A picture drawn on the chain is a data URI. */
const dataLength = 65_536;

const mediaUri = /^(?:(?:https?|ipfs|ipns|ar):\/\/|data:(?:image|video|audio|model)\/)/i;
const bareIpfsPath = /^(?:\/?ipfs\/)?(?=Qm[1-9A-HJ-NP-Za-km-z]{44})|^\/?ipfs\//;

/** A URI as it was given, where it is no longer than we keep; else null. */
export function parseUri(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const isData = /^\s*(?:data:|\{)/i.test(value);
  if (value.length > (isData ? dataLength : webLength)) return null;
  return (
    value
      .trim()
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, " ") || null
  );
}

/** The address of a picture, film, sound or model; null of what a page must not be told to open, scripts first. */
export function parseMedia(value: unknown): string | null {
  const uri = parseUri(value)?.replace(bareIpfsPath, "ipfs://") ?? null;
  return uri !== null && mediaUri.test(uri) && URL.canParse(uri) ? uri : null;
}

/** A drawing given as SVG text, as the data URI that holds it. */
export function parseSvg(value: unknown): string | null {
  if (typeof value !== "string" || !/^\s*<(?:svg|\?xml)/i.test(value)) return parseMedia(value);
  return parseMedia(`data:image/svg+xml;base64,${Buffer.from(value).toString("base64")}`);
}

/** The address of a page; null of anything else. */
export function parseLink(value: unknown): string | null {
  const uri = parseUri(value);
  if (uri === null || !URL.canParse(uri)) return null;
  return ["https:", "http:"].includes(new URL(uri).protocol) ? uri : null;
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

/** The media type that a URI itself tells; null where it does not. */
export function mediaTypeOf(uri: string | null): string | null {
  if (uri === null) return null;
  const [, told] = /^data:([\w.+-]+\/[\w.+-]+)/i.exec(uri) ?? [];
  if (told !== undefined) return told.toLowerCase();
  const [, extension = ""] = /\.([a-z0-9]{2,5})(?:[?#].*)?$/i.exec(uri) ?? [];
  const name = extension.toLowerCase();
  return Object.hasOwn(typesByExtension, name) ? (typesByExtension[name] ?? null) : null;
}
