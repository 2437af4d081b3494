/** Where a document is: in the URI itself, behind a gateway, or at a web address. */
export type Location =
  | { kind: "data"; mediaType: string; bytes: Uint8Array }
  /** `path`: `ipfs/<cid>/…` or `ipns/<name>/…`. */
  | { kind: "ipfs"; path: string }
  /** `path`: `<transaction>/…`. */
  | { kind: "arweave"; path: string }
  /** `ipfsPath`: the same content behind any gateway. */
  | { kind: "web"; url: URL; ipfsPath: string | null };

const cid =
  "(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|[bB][a-zA-Z2-7]{50,110}|z[1-9A-HJ-NP-Za-km-z]{40,110}|f[0-9a-f]{60,110})";
const ipfsUri = /^ipfs:\/\/(?:ipfs\/)?(.+)$/is;
const ipnsUri = /^ipns:\/\/(.+)$/is;
const arweaveUri = /^ar:\/\/([\w-]{43}(?:\/.*)?)$/is;
const ipfsPath = new RegExp(`^/?(?:ipfs/)?(${cid}(?:[/?].*)?)$`, "s");
const gatewayPath = new RegExp(`^/(ipfs/${cid}(?:/.*)?)$`, "s");

/** Where a URI points to, or a message why nothing can be fetched from it. */
export function locate(uri: string): Location | string {
  const text = uri.trim();
  if (/^data:/i.test(text)) return readDataUri(text);
  // Some contracts return the document itself.
  if (text.startsWith("{")) {
    return { kind: "data", mediaType: "application/json", bytes: Buffer.from(text) };
  }
  const [, ipfs] = ipfsUri.exec(text) ?? ipfsPath.exec(text) ?? [];
  if (ipfs !== undefined) return { kind: "ipfs", path: `ipfs/${ipfs}` };
  const [, ipns] = ipnsUri.exec(text) ?? [];
  if (ipns !== undefined) return { kind: "ipfs", path: `ipns/${ipns}` };
  const [, arweave] = arweaveUri.exec(text) ?? [];
  if (arweave !== undefined) return { kind: "arweave", path: arweave };
  return locateOnWeb(text);
}

function locateOnWeb(text: string): Location | string {
  if (!URL.canParse(text)) return text === "" ? "the URI is empty" : "the URI is invalid";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `${url.protocol} is not fetched`;
  }
  const [, path] = gatewayPath.exec(url.pathname) ?? [];
  return { kind: "web", url, ipfsPath: path ?? null };
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
  const bytes = isBase64 ? Buffer.from(raw.toString("latin1"), "base64") : raw;
  if (bytes.length === 0) return "the data URI has no data";
  return { kind: "data", mediaType: mediaType.trim() || "text/plain", bytes };
}

/** A percent sign that is not an escape is literal. */
function unescapePercents(text: string): Buffer {
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  const bytes = parts.map((part, index) =>
    index % 2 === 1 ? Buffer.from(part.replaceAll("%", ""), "hex") : Buffer.from(part),
  );
  return Buffer.concat(bytes);
}

/** ERC-1155: replaces `{id}` by the token id as 64 digits of lower-case hex. */
export function substituteId(uri: string, tokenId: bigint): string {
  return uri.replaceAll("{id}", tokenId.toString(16).padStart(64, "0"));
}
