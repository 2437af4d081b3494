import { type ContentPath, cid, contentOnWeb } from "./content-path.ts";

/** Where a document is: in the URI itself, behind a gateway, or at a web address. */
export type Location =
  | { kind: "data"; mediaType: string; charset?: string; bytes: Uint8Array }
  /** `path`: `ipfs/<cid>/…` or `ipns/<name>/…`. */
  | { kind: "ipfs"; path: string }
  /** `path`: `<transaction>/…`. */
  | { kind: "arweave"; path: string }
  /** `content`, `ipfsPath`: the same content behind any gateway. */
  | { kind: "web"; url: URL; content: ContentPath | null; ipfsPath: string | null };

/** `ipfs://`, with one slash or none, also repeated, or before another address. */
const ipfsUri = /^ipfs:(?:\/+|ipfs:|ipfs\/+)*([^/].*)$/is;
const ipnsUri = /^ipns:\/*(?:ipns\/+)*([^/].*)$/is;
const arweaveUri = /^(ar|arweave):\/*(?:ar:\/+)?(.*)$/is;
const transaction = /^[\w-]{43}(?:[/?#].*)?$/s;
const barePath = new RegExp(`^[./]*(?:ipfs/+)*(${cid}(?:[/?#].*)?)$`, "s");
const bareName = /^\/*ipns\/+([^/].*)$/s;
const webUri = /^(?:https?:)?\/{2,}([^/?#\\]*)(.*)$/is;
/** A host's name with a path, without a scheme. */
const bareHost = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]+(?::\d{1,5})?\//i;

/** Where a URI points to, or a message why nothing can be fetched from it. */
export function locate(uri: string): Location | string {
  const text = trimUri(uri);
  if (/^data:/i.test(text)) return readDataUri(text);
  // Some contracts return the document itself.
  if (text.startsWith("{")) {
    return { kind: "data", mediaType: "application/json", bytes: Buffer.from(text) };
  }
  return locateContent(text) ?? locateOnWeb(text);
}

/** Whether a URI holds the document itself. */
export const isInline = (uri: string): boolean => /^\s*(?:data:|\{)/i.test(uri);

/** Without space, NUL and quotes around it, which contracts return with their text. */
function trimUri(uri: string): string {
  const text = uri
    .replace(/^[\s\0]+/, "")
    .trimEnd()
    .replace(/\0+$/, "");
  return /^"[^"]*"$|^'[^']*'$/.test(text) ? text.slice(1, -1).trim() : text;
}

function locateContent(text: string): Location | string | null {
  const [, ipfs] = ipfsUri.exec(text) ?? [];
  if (ipfs !== undefined) return locateBehindScheme(ipfs);
  const [, bare] = barePath.exec(text) ?? [];
  if (bare !== undefined) return { kind: "ipfs", path: `ipfs/${bare}` };
  const [, ipns] = ipnsUri.exec(text) ?? bareName.exec(text) ?? [];
  if (ipns !== undefined) return { kind: "ipfs", path: `ipns/${ipns}` };
  const [, scheme = "", id = ""] = arweaveUri.exec(text) ?? [];
  if (scheme === "") return null;
  if (transaction.test(id)) return { kind: "arweave", path: id };
  const { content } = asWeb(id) ?? {};
  if (content?.kind === "arweave") return { kind: "arweave", path: content.path };
  return `${scheme.toLowerCase()}: is not fetched`;
}

/** After `ipfs://` some write the address of a gateway. */
function locateBehindScheme(rest: string): Location {
  const isContent = barePath.test(rest);
  const web = isContent ? null : asWeb(rest);
  if (web?.content?.isSure) return { kind: web.content.kind, path: web.content.path };
  const [, ipns] = isContent ? [] : (bareName.exec(rest) ?? []);
  return { kind: "ipfs", path: ipns === undefined ? `ipfs/${rest}` : `ipns/${ipns}` };
}

function locateOnWeb(text: string): Location | string {
  const web = asWeb(text);
  if (web !== null) return web;
  if (!URL.canParse(text)) return text === "" ? "the URI is empty" : "the URI is invalid";
  return `${new URL(text).protocol} is not fetched`;
}

/** Null for what is no web address, with or without its scheme. */
function asWeb(text: string): Extract<Location, { kind: "web" }> | null {
  const isBare = bareHost.test(text) || text.startsWith("//");
  const address = isBare ? `https://${text.replace(/^\/+/, "")}` : text;
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null;
  const [, host = "", rest = ""] = webUri.exec(address) ?? [];
  const content = contentOnWeb(host.replace(/^.*@/, ""), rest);
  const ipfsPath = content?.kind === "ipfs" ? content.path : null;
  return { kind: "web", url: new URL(address), content, ipfsPath };
}

/** RFC 2397 with the deviations that contracts use: unescaped characters are accepted, `;utf8` is ignored. */
function readDataUri(text: string): Location | string {
  const comma = text.indexOf(",");
  if (comma === -1) return "the data URI has no data";
  const [mediaType = "", ...parameters] = text
    .slice("data:".length, comma)
    .toLowerCase()
    .split(";");
  const raw = unescapePercents(text.slice(comma + 1));
  const isBase64 = parameters.some((one) => one.trim() === "base64");
  // Some say base64 and write the document as it is.
  const isPlain = /^\s*[{<]/.test(raw.toString("latin1", 0, 16));
  const bytes = isBase64 && !isPlain ? Buffer.from(raw.toString("latin1"), "base64") : raw;
  if (bytes.length === 0) return "the data URI has no data";
  const charset = parameters.map((one) => /^\s*charset=(.*)$/.exec(one)?.[1]).find(Boolean);
  const type = mediaType.trim() || "text/plain";
  return { kind: "data", mediaType: type, ...(charset && { charset }), bytes };
}

/** A percent sign that is not an escape is literal. */
function unescapePercents(text: string): Buffer {
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  const bytes = parts.map((part, index) =>
    index % 2 === 1 ? Buffer.from(part.replaceAll("%", ""), "hex") : Buffer.from(part),
  );
  return Buffer.concat(bytes);
}
